-- name: find_branch
-- By thread_id, branch_id; with the id of the branch's own last record.
SELECT no, thread_id, branch_id, parent_no, fork_sequence, pruned_sequence, graph, created_at_ms, status, epoch, known_sequence,
    open_questions, checksum, owner, lease_until_ms,
    (SELECT id FROM records WHERE id BETWEEN no << 32 AND (no << 32) + 4294967295 ORDER BY id DESC LIMIT 1)
FROM branches
WHERE thread_id = ?1 AND branch_id = ?2;

-- name: find_branch_by_no
SELECT no, thread_id, branch_id, parent_no, fork_sequence, pruned_sequence, graph, created_at_ms, status, epoch, known_sequence,
    open_questions, checksum, owner, lease_until_ms,
    (SELECT id FROM records WHERE id BETWEEN no << 32 AND (no << 32) + 4294967295 ORDER BY id DESC LIMIT 1)
FROM branches
WHERE no = ?1;

-- name: branches_beside
-- The two entries of the index between which thread_id, branch_id would stand, each with the ids that its row holds.
SELECT entry.thread_id, entry.branch_id, b.thread_id, b.branch_id
FROM (
    SELECT * FROM (
        SELECT thread_id, branch_id, no FROM branches WHERE (thread_id, branch_id) < (?1, ?2)
        ORDER BY thread_id DESC, branch_id DESC LIMIT 1
    )
    UNION ALL
    SELECT * FROM (
        SELECT thread_id, branch_id, no FROM branches WHERE (thread_id, branch_id) > (?1, ?2)
        ORDER BY thread_id, branch_id LIMIT 1
    )
) AS entry
LEFT JOIN branches b ON b.no = entry.no;

-- name: has_record
SELECT 1 FROM records WHERE id = ?1;

-- name: append_record
-- id, at_ms, checksum, body, for the owner of a branch: no, epoch. Changes no row where the owner lost its lease, or
-- where there is such a record. It must not look at records itself: SQLite would copy the row to a table in between.
INSERT INTO records (id, at_ms, checksum, body)
SELECT ?1, ?2, ?3, ?4 FROM branches WHERE no = ?5 AND epoch = ?6 AND status = 'running'
ON CONFLICT DO NOTHING;

-- name: add_record
INSERT INTO records (id, at_ms, pause, checksum, body) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: add_snapshot
INSERT INTO snapshots (id, checksum, body) VALUES (?1, ?2, ?3);

-- name: add_branch
INSERT INTO branches (no, thread_id, branch_id, parent_no, fork_sequence, pruned_sequence, graph, created_at_ms, status, epoch, known_sequence,
    open_questions, checksum, owner, lease_until_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15);

-- name: change_branch
UPDATE branches
SET status = ?2, epoch = ?3, known_sequence = ?4, open_questions = ?5, checksum = ?6, owner = ?7, lease_until_ms = ?8
WHERE no = ?1;

-- name: extend_lease
UPDATE branches SET lease_until_ms = ?3 WHERE no = ?1 AND epoch = ?2 AND status = 'running';

-- name: add_counters
INSERT INTO counters (one, store_id, branch_no, pause, checksum) VALUES (1, ?1, ?2, ?3, ?4);

-- name: read_counters
SELECT store_id, branch_no, pause, checksum FROM counters;

-- name: write_counters
UPDATE counters SET branch_no = ?1, pause = ?2, checksum = ?3;

-- name: open_question
INSERT INTO questions (branch_no, key, pause, assignee, expires_at_ms, asked_at_ms, checksum, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: close_question
DELETE FROM questions WHERE branch_no = ?1 AND key = ?2;

-- name: newest_snapshot
-- The last one with an id from ?1 to ?2.
SELECT id, checksum, body FROM snapshots WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1;

-- name: records_between
-- At most ?3 records with ids from ?1 to ?2, in order.
SELECT id, at_ms, pause, checksum, body FROM records WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3;

-- name: questions_of_branch
SELECT branch_no, key, pause, assignee, expires_at_ms, asked_at_ms, checksum, body
FROM questions WHERE branch_no = ?1;

-- name: page_of_questions
-- After pause, branch_no, key; then limit; then the filters branch_id, graph, assignee, asked_before_ms (NULL: any).
-- An entry of the index without its row, or without its branch, passes every filter: it is damage to be told.
SELECT entry.pause, entry.branch_no, entry.key,
    q.branch_no, q.key, q.pause, q.assignee, q.expires_at_ms, q.asked_at_ms, q.checksum, q.body,
    b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.checksum, b.owner, b.lease_until_ms
FROM questions entry INDEXED BY questions_by_pause
LEFT JOIN questions q ON q.branch_no = entry.branch_no AND q.key = entry.key
LEFT JOIN branches b ON b.no = entry.branch_no
WHERE (entry.pause, entry.branch_no, entry.key) > (?1, ?2, ?3)
    AND (?5 IS NULL OR b.branch_id = ?5 OR b.no IS NULL)
    AND (?6 IS NULL OR b.graph = ?6 OR b.no IS NULL)
    AND (?7 IS NULL OR q.assignee = ?7 OR q.key IS NULL)
    AND (?8 IS NULL OR q.asked_at_ms < ?8 OR q.key IS NULL)
ORDER BY entry.pause, entry.branch_no, entry.key
LIMIT ?4;

-- name: page_of_questions_in_thread
-- The same for one thread, ?9.
SELECT q.pause, q.branch_no, q.key,
    q.branch_no, q.key, q.pause, q.assignee, q.expires_at_ms, q.asked_at_ms, q.checksum, q.body,
    b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.checksum, b.owner, b.lease_until_ms
FROM branches b
CROSS JOIN questions q ON q.branch_no = b.no
WHERE b.thread_id = ?9
    AND (q.pause, q.branch_no, q.key) > (?1, ?2, ?3)
    AND (?5 IS NULL OR b.branch_id = ?5)
    AND (?6 IS NULL OR b.graph = ?6)
    AND (?7 IS NULL OR q.assignee = ?7)
    AND (?8 IS NULL OR q.asked_at_ms < ?8)
ORDER BY q.pause, q.branch_no, q.key
LIMIT ?4;

-- name: open_counts
-- The branches of a thread, each with how many of its questions are found.
SELECT b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.checksum, b.owner, b.lease_until_ms,
    (SELECT count(*) FROM questions q WHERE q.branch_no = b.no)
FROM branches b
WHERE b.thread_id = ?1;
