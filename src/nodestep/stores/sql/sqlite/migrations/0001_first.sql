-- The tables of a store.
--
-- A record or snapshot is found by one number: its branch's number shifted left by 32 bits, plus its sequence. So the
-- records of a branch lie side by side in the order of history, and need no index.
--
-- Every row carries a checksum over all that readers take from it, save the lease, which errs on the safe side.

-- One row. Counters only grow, so that no number is ever given twice.
CREATE TABLE counters (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    store_id TEXT NOT NULL,
    branch_no INTEGER NOT NULL,
    pause INTEGER NOT NULL,
    answer INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;

-- `known_sequence` is the last record as of the last change of this row, at `changed_at_ms`: a running branch may have
-- gone on from there. Records up to `pruned_sequence` are gone. `open_questions` and `answers` count the rows of theirs.
CREATE TABLE branches (
    no INTEGER PRIMARY KEY,
    thread_id TEXT NOT NULL,
    branch_id TEXT NOT NULL,
    parent_no INTEGER,
    fork_sequence INTEGER NOT NULL,
    pruned_sequence INTEGER NOT NULL,
    graph TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    known_sequence INTEGER NOT NULL,
    open_questions INTEGER NOT NULL,
    answers INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    owner TEXT,
    lease_until_ms INTEGER NOT NULL,
    UNIQUE (thread_id, branch_id)
) STRICT;

CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    pause INTEGER,
    checksum INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY,
    checksum INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- `body` holds all that is told of a question, with the ids and graph of its branch, which never change: so a page of them
-- is read from here alone. What stands in columns of its own beside is there to be looked for.
CREATE TABLE questions (
    branch_no INTEGER NOT NULL,
    key TEXT NOT NULL,
    pause INTEGER NOT NULL,
    branch_id TEXT NOT NULL,
    graph TEXT NOT NULL,
    assignee TEXT,
    expires_at_ms INTEGER,
    asked_at_ms INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (branch_no, key)
) STRICT, WITHOUT ROWID;

-- Pages of open questions, oldest first. What has expired is left out, so its time stands here too: only where both say so.
CREATE INDEX questions_by_pause ON questions (pause, branch_no, key, expires_at_ms);

-- Every decision about a question, for good. Numbers are the counter's, so they are given once and in order; `body` is
-- the value.
CREATE TABLE answers (
    number INTEGER PRIMARY KEY,
    branch_no INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    key TEXT NOT NULL,
    source TEXT NOT NULL,
    given_by TEXT,
    note TEXT,
    pause INTEGER,
    rejected TEXT,
    checksum INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE INDEX answers_by_branch ON answers (branch_no);

-- What is still to be freed of branches that were pruned: records and snapshots before `before`, save the snapshots whose
-- sequences `kept` lists as JSON. Without `before`: of one that was deleted, everything.
CREATE TABLE sweeps (
    branch_no INTEGER PRIMARY KEY,
    before INTEGER,
    kept TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
