-- What a file says of itself. One statement, since another process may make the store between two.
SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
FROM pragma_application_id, pragma_user_version
