-- Addresses that get no mail.

-- name: add_suppressions
-- $1 project, $2 environment, $3 addresses text[], $4 reason. How many stop more than before.
-- Whoever has unsubscribed and is suppressed for another reason as well gets no direct mail either.
-- Locks: the rows in address order.
WITH added AS (
  INSERT INTO suppressions AS u (project, environment, address, reason)
  SELECT DISTINCT $1::bigint, $2::text, a.address, $4::text
    FROM unnest($3::text[]) AS a(address)
   ORDER BY a.address
  ON CONFLICT (project, environment, address) DO UPDATE
     SET reason = excluded.reason, created_at = excluded.created_at
   WHERE u.reason = 'unsubscribe' AND excluded.reason <> 'unsubscribe'
  RETURNING 1
)
SELECT count(*) FROM added;

-- name: record_unsubscribe
-- $1 project, $2 environment, $3 address, $4 stream. 1 where this is the first time, else 0.
-- Locks: the two new rows; a suppression for any reason stays as it is.
WITH noted AS (
  INSERT INTO unsubscribes (project, environment, address, stream)
  VALUES ($1::bigint, $2::text, $3::text, $4::bigint)
  ON CONFLICT DO NOTHING
  RETURNING 1
), suppressed AS (
  INSERT INTO suppressions (project, environment, address, reason)
  VALUES ($1::bigint, $2::text, $3::text, 'unsubscribe')
  ON CONFLICT DO NOTHING
)
SELECT count(*) FROM noted;

-- name: remove_suppressions
-- $1 project, $2 environment, $3 addresses text[]. Locks: rows in address order.
WITH locked AS MATERIALIZED (
  SELECT u.address
    FROM suppressions u
   WHERE u.project = $1::bigint AND u.environment = $2::text AND u.address = ANY ($3::text[])
   ORDER BY u.address
     FOR UPDATE OF u
), removed AS (
  DELETE FROM suppressions u
   USING locked l
   WHERE u.project = $1::bigint AND u.environment = $2::text AND u.address = l.address
  RETURNING 1
)
SELECT count(*) FROM removed;

-- name: list_suppressions
-- $1 project, $2 environment, $3 after this address, $4 limit. Index: suppressions_pkey.
SELECT address, reason,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at
  FROM suppressions
 WHERE project = $1::bigint AND environment = $2::text AND address > $3::text
 ORDER BY address
 LIMIT $4::int;

-- name: find_suppression
-- $1 project, $2 environment, $3 address. Index: suppressions_pkey.
SELECT address, reason,
       to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at
  FROM suppressions
 WHERE project = $1::bigint AND environment = $2::text AND address = $3::text;
