-- name: find_branch
-- By thread_id, branch_id; with the id and time of the branch's own last record.
SELECT no, thread_id, branch_id, parent_no, fork_sequence, graph, created_at_ms, status, epoch, known_sequence, checksum,
    owner, lease_until_ms,
    (SELECT id FROM records WHERE id BETWEEN no << 32 AND (no << 32) + 4294967295 ORDER BY id DESC LIMIT 1),
    (SELECT at_ms FROM records WHERE id BETWEEN no << 32 AND (no << 32) + 4294967295 ORDER BY id DESC LIMIT 1)
FROM branches
WHERE thread_id = ?1 AND branch_id = ?2;

-- name: find_branch_by_no
SELECT no, thread_id, branch_id, parent_no, fork_sequence, graph, created_at_ms, status, epoch, known_sequence, checksum,
    owner, lease_until_ms,
    (SELECT id FROM records WHERE id BETWEEN no << 32 AND (no << 32) + 4294967295 ORDER BY id DESC LIMIT 1),
    (SELECT at_ms FROM records WHERE id BETWEEN no << 32 AND (no << 32) + 4294967295 ORDER BY id DESC LIMIT 1)
FROM branches
WHERE no = ?1;

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
INSERT INTO branches (no, thread_id, branch_id, parent_no, fork_sequence, graph, created_at_ms, status, epoch,
    known_sequence, checksum, owner, lease_until_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);

-- name: change_branch
UPDATE branches SET status = ?2, epoch = ?3, known_sequence = ?4, checksum = ?5, owner = ?6, lease_until_ms = ?7
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
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (branch_no, key) DO UPDATE SET pause = excluded.pause, assignee = excluded.assignee,
    expires_at_ms = excluded.expires_at_ms, asked_at_ms = excluded.asked_at_ms, checksum = excluded.checksum,
    body = excluded.body;

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
SELECT q.branch_no, q.key, q.pause, q.assignee, q.expires_at_ms, q.asked_at_ms, q.checksum, q.body,
    b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.graph, b.created_at_ms, b.status, b.epoch,
    b.known_sequence, b.checksum, b.owner, b.lease_until_ms
FROM questions q INDEXED BY questions_by_pause
CROSS JOIN branches b ON b.no = q.branch_no
WHERE (q.pause, q.branch_no, q.key) > (?1, ?2, ?3)
    AND (?5 IS NULL OR b.branch_id = ?5)
    AND (?6 IS NULL OR b.graph = ?6)
    AND (?7 IS NULL OR q.assignee = ?7)
    AND (?8 IS NULL OR q.asked_at_ms < ?8)
ORDER BY q.pause, q.branch_no, q.key
LIMIT ?4;

-- name: page_of_questions_in_thread
-- The same for one thread, ?9.
SELECT q.branch_no, q.key, q.pause, q.assignee, q.expires_at_ms, q.asked_at_ms, q.checksum, q.body,
    b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.graph, b.created_at_ms, b.status, b.epoch,
    b.known_sequence, b.checksum, b.owner, b.lease_until_ms
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
