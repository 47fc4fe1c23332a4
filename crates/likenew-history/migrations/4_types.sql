-- PostgreSQL alone: SQLite has no such types. What is no date or no JSON becomes NULL, and is indexed again from its run folder.
CREATE FUNCTION pg_temp.date_of(text) RETURNS TIMESTAMPTZ LANGUAGE plpgsql AS $$
BEGIN RETURN CASE WHEN $1 ~ '^\d{4}-\d\d-\d\dT' THEN $1::TIMESTAMPTZ END; EXCEPTION WHEN data_exception THEN RETURN NULL; END $$;
CREATE FUNCTION pg_temp.json_of(text) RETURNS JSONB LANGUAGE plpgsql AS $$
BEGIN RETURN $1::JSONB; EXCEPTION WHEN data_exception THEN RETURN NULL; END $$;

DROP VIEW drive;

ALTER TABLE run
    ALTER COLUMN started_at TYPE TIMESTAMPTZ USING pg_temp.date_of(started_at),
    ALTER COLUMN is_virtual TYPE BOOLEAN USING is_virtual <> 0,
    ALTER COLUMN problems TYPE JSONB USING pg_temp.json_of(problems);

CREATE VIEW drive AS
SELECT
    archive,
    drive AS key,
    MAX(access) AS access,
    MAX(model) AS model,
    MAX(serial) AS serial,
    MAX(capacity_bytes) AS capacity_bytes,
    BOOL_OR(is_virtual) AS is_virtual,
    MIN(started_at) AS first_at,
    MAX(started_at) AS last_at,
    COUNT(*) AS runs,
    COUNT(CASE WHEN procedure = 'check' AND standing <> 'unfinished' THEN 1 END) AS checks
FROM run
WHERE drive IS NOT NULL
GROUP BY archive, drive;
