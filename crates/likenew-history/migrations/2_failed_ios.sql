-- I/Os that failed while the run measured; absent of damaged runs.
ALTER TABLE run ADD COLUMN failed_ios BIGINT;
