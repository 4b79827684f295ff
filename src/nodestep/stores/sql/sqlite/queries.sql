-- name: find_branch
-- By thread_id, branch_id; with the id of the branch's own last record.
SELECT no, thread_id, branch_id, parent_no, fork_sequence, pruned_sequence, graph, created_at_ms, status, epoch, known_sequence,
    open_questions, answers, changed_at_ms, checksum, owner, lease_until_ms,
    (SELECT id FROM records WHERE id BETWEEN no << 32 AND (no << 32) + 4294967295 ORDER BY id DESC LIMIT 1)
FROM branches
WHERE thread_id = ?1 AND branch_id = ?2;

-- name: find_branch_by_no
SELECT no, thread_id, branch_id, parent_no, fork_sequence, pruned_sequence, graph, created_at_ms, status, epoch, known_sequence,
    open_questions, answers, changed_at_ms, checksum, owner, lease_until_ms,
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
-- Changes no row where there is such a record.
INSERT INTO records (id, at_ms, pause, checksum, body) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING;

-- name: add_snapshot
INSERT INTO snapshots (id, checksum, body) VALUES (?1, ?2, ?3);

-- name: add_branch
-- Changes no row where there is such a branch.
INSERT INTO branches (no, thread_id, branch_id, parent_no, fork_sequence, pruned_sequence, graph, created_at_ms, status, epoch, known_sequence,
    open_questions, answers, changed_at_ms, checksum, owner, lease_until_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
ON CONFLICT DO NOTHING;

-- name: change_branch
-- Changes no row where the branch is no more as it was found: epoch, known_sequence, checksum. An owner that goes on keeps
-- its lease, which may have been renewed meanwhile.
UPDATE branches
SET status = ?2, epoch = ?3, known_sequence = ?4, open_questions = ?5, answers = ?6, changed_at_ms = ?7, checksum = ?8,
    owner = ?9, lease_until_ms = CASE WHEN ?2 = status AND ?3 = epoch THEN lease_until_ms ELSE ?10 END
WHERE no = ?1 AND epoch = ?11 AND known_sequence = ?12 AND checksum = ?13;

-- name: change_pruned
-- no, pruned_sequence, checksum.
UPDATE branches SET pruned_sequence = ?2, checksum = ?3 WHERE no = ?1;

-- name: drop_branch
DELETE FROM branches WHERE no = ?1;

-- name: extend_lease
UPDATE branches SET lease_until_ms = ?3 WHERE no = ?1 AND epoch = ?2 AND status = 'running';

-- name: add_counters
INSERT INTO counters (one, store_id, branch_no, pause, answer, checksum) VALUES (1, ?1, ?2, ?3, ?4, ?5);

-- name: read_counters
SELECT store_id, branch_no, pause, answer, checksum FROM counters;

-- name: write_counters
-- Changes no row where they are no more as they were found: store_id, branch_no, pause, answer, checksum.
UPDATE counters SET branch_no = ?1, pause = ?2, answer = ?3, checksum = ?4
WHERE store_id = ?5 AND branch_no = ?6 AND pause = ?7 AND answer = ?8 AND checksum = ?9;

-- name: add_answer
INSERT INTO answers (number, branch_no, at_ms, key, source, given_by, note, pause, rejected, checksum, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- name: open_question
-- Changes no row where there is such a question.
INSERT INTO questions (branch_no, key, pause, branch_id, graph, assignee, expires_at_ms, asked_at_ms, checksum, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT DO NOTHING;

-- name: close_question
DELETE FROM questions WHERE branch_no = ?1 AND key = ?2;

-- name: close_questions
DELETE FROM questions WHERE branch_no = ?1;

-- name: has_snapshot
SELECT 1 FROM snapshots WHERE id = ?1;

-- name: newest_snapshot
-- The last one with an id from ?1 to ?2.
SELECT id, checksum, body FROM snapshots WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1;

-- name: records_between
-- At most ?3 records with ids from ?1 to ?2, in order.
SELECT id, at_ms, pause, checksum, body FROM records WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3;

-- name: questions_of_branch
SELECT pause, checksum, body FROM questions WHERE branch_no = ?1 ORDER BY pause, key;

-- name: page_of_questions
-- After pause, branch_no, key; then limit and the time now. The pause is the one that the index tells. What the index and
-- the row both call expired is left out. An entry without its row is there to be told as damage.
SELECT entry.pause, q.checksum, q.body
FROM questions entry INDEXED BY questions_by_pause
LEFT JOIN questions q ON q.branch_no = entry.branch_no AND q.key = entry.key
WHERE (entry.pause, entry.branch_no, entry.key) > (?1, ?2, ?3)
    AND (entry.expires_at_ms IS NULL OR entry.expires_at_ms > ?5 OR q.expires_at_ms IS NULL OR q.expires_at_ms > ?5)
ORDER BY entry.pause, entry.branch_no, entry.key
LIMIT ?4;

-- name: page_of_questions_filtered
-- The same, with filters: branch_id, graph, assignee, asked_before_ms (NULL: any). An entry without its row passes every
-- one. What belongs to a deleted branch is left out.
SELECT entry.pause, q.checksum, q.body
FROM questions entry INDEXED BY questions_by_pause
LEFT JOIN questions q ON q.branch_no = entry.branch_no AND q.key = entry.key
WHERE (entry.pause, entry.branch_no, entry.key) > (?1, ?2, ?3)
    AND (entry.expires_at_ms IS NULL OR entry.expires_at_ms > ?5 OR q.expires_at_ms IS NULL OR q.expires_at_ms > ?5)
    AND (?6 IS NULL OR q.branch_id = ?6 OR q.key IS NULL)
    AND (?7 IS NULL OR q.graph = ?7 OR q.key IS NULL)
    AND (?8 IS NULL OR q.assignee = ?8 OR q.key IS NULL)
    AND (?9 IS NULL OR q.asked_at_ms < ?9 OR q.key IS NULL)
    AND NOT EXISTS (SELECT 1 FROM sweeps s WHERE s.branch_no = entry.branch_no AND s.before IS NULL)
ORDER BY entry.pause, entry.branch_no, entry.key
LIMIT ?4;

-- name: questions_of_thread
-- Those of every branch.
SELECT q.pause, q.checksum, q.body
FROM branches b
CROSS JOIN questions q ON q.branch_no = b.no
WHERE b.thread_id = ?1
ORDER BY q.pause, q.branch_no, q.key;

-- name: open_counts
-- The branches of a thread, each with how many of its questions are found.
SELECT b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.answers, b.changed_at_ms, b.checksum, b.owner, b.lease_until_ms,
    (SELECT count(*) FROM questions q WHERE q.branch_no = b.no)
FROM branches b
WHERE b.thread_id = ?1;

-- name: branches_of_thread
-- Oldest first, each with the id of its own last record.
SELECT b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.answers, b.changed_at_ms, b.checksum, b.owner, b.lease_until_ms,
    (SELECT id FROM records WHERE id BETWEEN b.no << 32 AND (b.no << 32) + 4294967295 ORDER BY id DESC LIMIT 1)
FROM branches b
WHERE b.thread_id = ?1
ORDER BY b.no;

-- name: page_of_threads
-- The main branches before number ?1, newest first, at most ?2: each with the id of its own last record, with how many of
-- its questions are found, and with how many of them still wait at the time ?3. Then the filters graph and status (NULL:
-- any). A running branch passes for every status that it may have, since only a reader of its lease can tell.
SELECT b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.answers, b.changed_at_ms, b.checksum, b.owner, b.lease_until_ms,
    (SELECT id FROM records WHERE id BETWEEN b.no << 32 AND (b.no << 32) + 4294967295 ORDER BY id DESC LIMIT 1),
    (SELECT count(*) FROM questions q WHERE q.branch_no = b.no),
    (SELECT count(*) FROM questions q WHERE q.branch_no = b.no AND (q.expires_at_ms IS NULL OR q.expires_at_ms > ?3))
FROM branches b
WHERE b.no < ?1 AND b.branch_id = 'main'
    AND (?4 IS NULL OR b.graph = ?4)
    AND (
        ?5 IS NULL
        OR (b.status = 'running' AND ?5 IN ('running', 'unfinished'))
        OR CASE
            WHEN b.open_questions > 0 AND NOT EXISTS (
                SELECT 1 FROM questions q WHERE q.branch_no = b.no AND (q.expires_at_ms IS NULL OR q.expires_at_ms > ?3)
            ) THEN 'ready'
            ELSE b.status
        END = ?5
    )
ORDER BY b.no DESC
LIMIT ?2;

-- name: page_of_answers
-- Those after number ?1, at most ?2, each with its branch. One without its branch is damage to be told, save for a branch
-- that was deleted and is not swept yet.
SELECT a.number, a.branch_no, a.at_ms, a.key, a.source, a.given_by, a.note, a.pause, a.rejected, a.checksum, a.body,
    b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.answers, b.changed_at_ms, b.checksum, b.owner, b.lease_until_ms
FROM answers a
LEFT JOIN branches b ON b.no = a.branch_no
WHERE a.number > ?1
    AND (b.no IS NOT NULL OR NOT EXISTS (SELECT 1 FROM sweeps s WHERE s.branch_no = a.branch_no AND s.before IS NULL))
ORDER BY a.number
LIMIT ?2;

-- name: page_of_answers_in_thread
-- The same for one thread, ?3.
SELECT a.number, a.branch_no, a.at_ms, a.key, a.source, a.given_by, a.note, a.pause, a.rejected, a.checksum, a.body,
    b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.answers, b.changed_at_ms, b.checksum, b.owner, b.lease_until_ms
FROM (
    SELECT entry.number, entry.branch_no
    FROM branches b
    CROSS JOIN answers entry ON entry.branch_no = b.no
    WHERE b.thread_id = ?3 AND entry.number > ?1
    ORDER BY entry.number
    LIMIT ?2
) AS page
CROSS JOIN answers a ON a.number = page.number
CROSS JOIN branches b ON b.no = page.branch_no
ORDER BY page.number;

-- name: answer_counts
-- The branches of a thread, each with how many of its answers are found.
SELECT b.no, b.thread_id, b.branch_id, b.parent_no, b.fork_sequence, b.pruned_sequence, b.graph, b.created_at_ms,
    b.status, b.epoch, b.known_sequence, b.open_questions, b.answers, b.changed_at_ms, b.checksum, b.owner, b.lease_until_ms,
    (SELECT count(*) FROM answers a WHERE a.branch_no = b.no)
FROM branches b
WHERE b.thread_id = ?1;

-- name: add_sweep
INSERT INTO sweeps (branch_no, before, kept, checksum) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (branch_no) DO UPDATE SET before = ?2, kept = ?3, checksum = ?4;

-- name: next_sweep
-- The first one from branch number ?1 on.
SELECT branch_no, before, kept, checksum FROM sweeps WHERE branch_no >= ?1 ORDER BY branch_no LIMIT 1;

-- name: end_sweep
-- Unless it was changed meanwhile: branch_no, checksum.
DELETE FROM sweeps WHERE branch_no = ?1 AND checksum = ?2;

-- name: records_to_free
-- At most ?3 with ids from ?1 to ?2, in order, each with its size.
SELECT id, length(body) FROM records WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3;

-- name: free_records
DELETE FROM records WHERE id BETWEEN ?1 AND ?2;

-- name: snapshots_to_free
SELECT id, length(body) FROM snapshots WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3;

-- name: free_snapshots
DELETE FROM snapshots WHERE id BETWEEN ?1 AND ?2;

-- name: questions_to_free
-- At most ?2 of branch ?1.
SELECT key, length(body) FROM questions WHERE branch_no = ?1 ORDER BY key LIMIT ?2;

-- name: free_questions
-- Those of branch ?1 up to key ?2.
DELETE FROM questions WHERE branch_no = ?1 AND key <= ?2;

-- name: answers_to_free
SELECT number, length(body) FROM answers WHERE branch_no = ?1 ORDER BY number LIMIT ?2;

-- name: free_answers
DELETE FROM answers WHERE branch_no = ?1 AND number <= ?2;
