-- The problems that a check found, as a JSON list of names and sentences; absent of other runs.
ALTER TABLE run ADD COLUMN problems TEXT;
