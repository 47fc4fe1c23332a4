-- Folders of runs, one for each machine and user. A writer changes its row first, and so waits for other writers of the same folder.
CREATE TABLE archive (
    name TEXT NOT NULL PRIMARY KEY,
    root TEXT NOT NULL
);

-- Every run folder, damaged ones with their error.
CREATE TABLE run (
    archive TEXT NOT NULL REFERENCES archive (name),
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    error TEXT,
    started_at TEXT,
    procedure TEXT,
    target TEXT,
    seed TEXT,
    standing TEXT,
    summary TEXT,
    access TEXT,
    place TEXT,
    serial TEXT,
    drive TEXT,
    model TEXT,
    capacity_bytes BIGINT,
    is_virtual BIGINT,
    PRIMARY KEY (archive, name)
);

CREATE INDEX run_by_drive ON run (archive, drive, started_at);
CREATE INDEX run_by_place ON run (archive, place);
CREATE INDEX run_by_time ON run (started_at);
CREATE INDEX run_by_target ON run (target);

-- Numbers with an interval, from the tables of a run's findings.
CREATE TABLE metric (
    archive TEXT NOT NULL,
    run TEXT NOT NULL,
    position BIGINT NOT NULL,
    source TEXT NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    low DOUBLE PRECISION NOT NULL,
    high DOUBLE PRECISION NOT NULL,
    reference DOUBLE PRECISION,
    origin TEXT,
    bytes BIGINT,
    PRIMARY KEY (archive, run, position),
    FOREIGN KEY (archive, run) REFERENCES run (archive, name) ON DELETE CASCADE
);

CREATE VIEW drive AS
SELECT
    archive,
    drive AS key,
    MAX(access) AS access,
    MAX(model) AS model,
    MAX(serial) AS serial,
    MAX(capacity_bytes) AS capacity_bytes,
    MAX(is_virtual) AS is_virtual,
    MIN(started_at) AS first_at,
    MAX(started_at) AS last_at,
    COUNT(*) AS runs,
    COUNT(CASE WHEN procedure = 'check' AND standing <> 'unfinished' THEN 1 END) AS checks
FROM run
WHERE drive IS NOT NULL
GROUP BY archive, drive;
