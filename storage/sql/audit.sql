-- The trail: who changed what. Rows are only added.

-- name: insert_audit
-- $1 actor, $2 action, $3 subject, $4 detail json. Locks nothing.
INSERT INTO audit_log (actor, action, subject, detail)
VALUES ($1::text, $2::text, $3::text, $4::json);

-- name: list_audit
-- $1 below this id, $2 limit. Locks nothing. Index: audit_log_pkey backwards.
SELECT id, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, actor, action,
       subject, detail
  FROM audit_log
 WHERE id < $1::bigint
 ORDER BY id DESC
 LIMIT $2::int;
