SELECT count(*), count(CASE WHEN name IN ('archive', '_sqlx_migrations') THEN 1 END)
FROM sqlite_master
