-- Migrations; run on a direct connection.

-- name: guard_migrations_table
-- Two nodes that create the same table at once would both fail on the catalogue's unique indexes.
-- Ends with the transaction. The number is "paceline" on a telephone's keys.
SELECT pg_advisory_xact_lock(72235463);

-- name: create_migrations_table
CREATE TABLE IF NOT EXISTS schema_migrations (
  number      int PRIMARY KEY,
  name        text NOT NULL,
  checksum    text NOT NULL,
  applied_at  timestamptz NOT NULL DEFAULT clock_timestamp());

-- name: lift_timeouts
-- For this transaction only: a migration, or the wait for another node's, may take long.
SELECT set_config('statement_timeout', '0', true),
       set_config('idle_in_transaction_session_timeout', '0', true);

-- name: lock_migrations
-- Lets check_schema read on, and makes a second node wait.
LOCK TABLE schema_migrations IN EXCLUSIVE MODE;

-- name: list_migrations
SELECT number, name, checksum FROM schema_migrations ORDER BY number;

-- name: note_migration
-- $1 number, $2 name, $3 checksum.
INSERT INTO schema_migrations (number, name, checksum) VALUES ($1::int, $2::text, $3::text);

-- name: has_migrations_table
SELECT to_regclass('schema_migrations') IS NOT NULL;

-- name: set_role_defaults
-- For this role in this database, because behind a transaction pooler no SET lasts. A custom plan
-- for every claim would cost more than its statement; the time-outs end what a dead node left open.
-- Plans are made while tables are still empty and kept: without the three enable_ settings the
-- planner then reads a small table whole, and goes on doing so when it is not small any more.
DO $$
DECLARE
  setting text;
BEGIN
  FOREACH setting IN ARRAY ARRAY[
    'plan_cache_mode = force_generic_plan', 'enable_seqscan = off', 'enable_hashjoin = off',
    'enable_mergejoin = off', 'statement_timeout = ''60s''',
    'idle_in_transaction_session_timeout = ''60s''', 'lock_timeout = 0', 'TimeZone = ''UTC''',
    'default_transaction_isolation = ''read committed''']
  LOOP
    EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET %s', current_database(), setting);
  END LOOP;
END $$;
