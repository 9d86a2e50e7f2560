-- The tables of the dispatch path. Invariants are constraints here, not habits in the code.
-- Columns are ordered by size, so that the hot rows carry no padding.

CREATE SEQUENCE epochs; -- one for all shards: an epoch names one ownership
CREATE SEQUENCE node_numbers;
CREATE SEQUENCE id_lanes MINVALUE 0 MAXVALUE 1023 START 0 CYCLE; -- see id_source

CREATE TABLE projects (
  id          bigint PRIMARY KEY,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  name        text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,62}$')
);
INSERT INTO projects (id, name) VALUES (1, 'default');

-- One row per environment:region. Topology, grid, brake, quota cache and daily grants of the whole
-- cluster.
CREATE TABLE routes (
  id               int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment      text NOT NULL CHECK (environment ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  region           text NOT NULL CHECK (region ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  generation       int NOT NULL DEFAULT 1 CHECK (generation >= 1),
  shard_count      int NOT NULL CHECK (shard_count BETWEEN 1 AND 1024),
  -- The grid in force, and the one that follows it (number + 1) from its start on.
  grid_number      bigint NOT NULL DEFAULT 0,
  grid_start_ns    bigint NOT NULL DEFAULT 0,
  target_mhz       bigint NOT NULL DEFAULT 0 CHECK (target_mhz >= 0),
  next_start_ns    bigint,
  next_target_mhz  bigint CHECK (next_target_mhz >= 0),
  CHECK ((next_start_ns IS NULL) = (next_target_mhz IS NULL)),
  brake_until      timestamptz NOT NULL DEFAULT '-infinity',
  -- What the provider said last; max_24h -1 means unlimited.
  quota_at         timestamptz NOT NULL DEFAULT '-infinity',
  refreshing_until timestamptz NOT NULL DEFAULT '-infinity',
  max_rate_mhz     bigint CHECK (max_rate_mhz >= 0),
  max_24h          bigint CHECK (max_24h >= -1),
  sent_24h         bigint CHECK (sent_24h >= 0),
  granted          bigint NOT NULL DEFAULT 0 CHECK (granted >= 0), -- drawn since quota_at
  -- Our grants of the 24 h before quota_at.
  own_24h          bigint NOT NULL DEFAULT 0 CHECK (own_24h >= 0),
  state            text NOT NULL DEFAULT 'running'
                   CHECK (state IN ('running', 'waiting', 'stopped')),
  state_reason     text NOT NULL DEFAULT '',
  waiting_until    timestamptz,
  CHECK ((state = 'waiting') = (waiting_until IS NOT NULL)),
  UNIQUE (environment, region)
);

-- Our own count of daily grants, by hour; rows older than a day are deleted by the refresh.
CREATE TABLE route_grants (
  route    int NOT NULL REFERENCES routes,
  hour     timestamptz NOT NULL,
  granted  bigint NOT NULL CHECK (granted >= 0),
  PRIMARY KEY (route, hour)
);

CREATE TABLE nodes (
  id          bigint PRIMARY KEY,
  started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  stopped_at  timestamptz,
  name        text NOT NULL,
  version     text NOT NULL
);

-- The truth about who runs a shard. Claims and the gate are fenced by (id, epoch).
CREATE TABLE shards (
  id            int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  route         int NOT NULL REFERENCES routes,
  generation    int NOT NULL,
  index         int NOT NULL,
  count         int NOT NULL CHECK (count BETWEEN 1 AND 1024),
  owner         bigint REFERENCES nodes,
  epoch         bigint NOT NULL DEFAULT 0,
  renewal       bigint NOT NULL DEFAULT 0,
  group_no      int NOT NULL DEFAULT 0,
  in_flight     int NOT NULL DEFAULT 0,           -- as of the last renewal, for people
  last_slot_ns  bigint NOT NULL DEFAULT 0,        -- the gate: no slot up to here may be used again
  CHECK (index >= 0 AND index < count),
  UNIQUE (route, generation, index)
) WITH (fillfactor = 50);                         -- updated with every claim: room for HOT updates

-- Ownerships that ended without a release. What they left attempting becomes acceptance_unknown.
CREATE TABLE lost_epochs (
  epoch    bigint PRIMARY KEY,
  shard    int NOT NULL REFERENCES shards,
  lost_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What messages share: once per campaign or batch.
CREATE TABLE contents (
  id          bigint PRIMARY KEY,
  project     bigint NOT NULL REFERENCES projects,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  hash        bytea NOT NULL CHECK (length(hash) = 32),  -- SHA-256, see storage/contents
  sender      text NOT NULL,
  subject     text NOT NULL,
  text_body   text NOT NULL,
  html_body   text NOT NULL,
  headers     json NOT NULL DEFAULT '{}'        -- json, not jsonb: the hash needs the exact text
);

-- What shares a route fairly: one campaign, or one project's direct mail.
CREATE TABLE streams (
  id            bigint PRIMARY KEY,
  project       bigint NOT NULL REFERENCES projects,
  route         int NOT NULL REFERENCES routes,
  kind          text NOT NULL CHECK (kind IN ('direct', 'campaign')),
  -- finished: nobody has to look for due rows any more.
  state         text NOT NULL DEFAULT 'running'
                CHECK (state IN ('running', 'paused', 'canceled', 'finished')),
  priority      smallint NOT NULL CHECK (priority BETWEEN 0 AND 100),  -- lower goes first
  weight        int NOT NULL DEFAULT 100 CHECK (weight BETWEEN 1 AND 1000),
  rate_cap_mhz  bigint CHECK (rate_cap_mhz > 0),
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX streams_direct ON streams (route, project) WHERE kind = 'direct';
CREATE INDEX streams_running ON streams (route) WHERE state = 'running';

CREATE TABLE campaigns (
  id              bigint PRIMARY KEY REFERENCES streams,  -- the stream of the same id
  content         bigint NOT NULL REFERENCES contents,
  name            text NOT NULL,
  state           text NOT NULL
                  CHECK (state IN ('draft', 'prepared', 'scheduled', 'sending', 'paused',
                                   'finished', 'canceled', 'failed')),
  audience        bigint NOT NULL DEFAULT 0 CHECK (audience >= 0),
  expanded        bigint NOT NULL DEFAULT 0 CHECK (expanded BETWEEN 0 AND audience),
  expansion_done  boolean NOT NULL DEFAULT false,
  first_message   bigint NOT NULL DEFAULT 0,   -- the ids of its messages lie in [first, last] ...
  last_message    bigint NOT NULL DEFAULT 0,
  expanded_to     bigint NOT NULL DEFAULT 0,   -- ... and those up to here have a state row
  requested_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at     timestamptz,
  CHECK (NOT expansion_done OR expanded = audience OR state = 'canceled'),
  CHECK ((state IN ('finished', 'canceled', 'failed')) = (finished_at IS NOT NULL))
);
CREATE INDEX campaigns_open ON campaigns (id) WHERE state IN ('sending', 'paused', 'canceled');

-- Written once, never updated. For a campaign: its frozen audience, complete before the first is
-- sent.
CREATE TABLE messages (
  id          bigint PRIMARY KEY,
  project     bigint NOT NULL,
  stream      bigint NOT NULL,
  content     bigint NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  ordinal     int NOT NULL,                       -- position in the audience; 0 for direct mail
  resend_of   bigint,                             -- what an operator closed and sent again as this
  recipients  text[] NOT NULL CHECK (cardinality(recipients) BETWEEN 1 AND 50),
  fields      json NOT NULL DEFAULT '{}'
);

-- Narrow and hot. No foreign keys; every update is by primary key.
CREATE TABLE message_states (
  id           bigint PRIMARY KEY,
  stream       bigint NOT NULL,
  epoch        bigint NOT NULL DEFAULT 0,         -- of the last claim
  due_at       timestamptz NOT NULL,
  changed_at   timestamptz NOT NULL,              -- of the last transition, on the database's clock
  expires_at   timestamptz,
  started_at   timestamptz,                       -- of the provider call, as the courier stamped it
  route        int NOT NULL,
  version      int NOT NULL DEFAULT 0,
  group_no     int NOT NULL DEFAULT 0,
  bucket       smallint NOT NULL,
  status       smallint NOT NULL,
  cost         smallint NOT NULL,
  throttles    smallint NOT NULL DEFAULT 0,
  reason       smallint NOT NULL DEFAULT 0,
  provider_id  text,
  diagnostic   text,
  -- One expression: every update evaluates it.
  CONSTRAINT message_states_values CHECK (
    status BETWEEN 0 AND 13 AND version >= 0 AND cost BETWEEN 1 AND 50
    AND bucket BETWEEN 0 AND 1023 AND (diagnostic IS NULL OR length(diagnostic) <= 1000))
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
-- The due scan, and only it, spells its guard `status = 0`. There must be no partial index on any
-- other status: the planner would use it for the record of outcomes and loop over all rows in
-- flight.
CREATE INDEX message_states_due ON message_states (stream, due_at, id) WHERE status = 0;

-- Sums per stream, spread over writers so that they don't wait for each other. One upsert per
-- statement.
CREATE TABLE counters (
  stream       bigint NOT NULL,
  writer       int NOT NULL,
  total        bigint NOT NULL DEFAULT 0,
  open         bigint NOT NULL DEFAULT 0,         -- queued and attempting; a part may be negative
  unknown      bigint NOT NULL DEFAULT 0,
  accepted     bigint NOT NULL DEFAULT 0,         -- accepted and later
  rejected     bigint NOT NULL DEFAULT 0,         -- rejected and rendering_failed
  suppressed   bigint NOT NULL DEFAULT 0,
  canceled     bigint NOT NULL DEFAULT 0,
  expired      bigint NOT NULL DEFAULT 0,
  throttled    bigint NOT NULL DEFAULT 0,         -- refusals after which it went back to queued
  first_start  timestamptz,
  last_start   timestamptz,
  last_record  timestamptz,
  PRIMARY KEY (stream, writer),
  CHECK (total = open + unknown + accepted + rejected + suppressed + canceled + expired)
) WITH (fillfactor = 50);

-- Provider calls started per second and stream: the dispatch curve without a look at the messages.
CREATE TABLE dispatch_curve (
  stream  bigint NOT NULL,
  second  bigint NOT NULL,                        -- Unix time
  writer  int NOT NULL,
  starts  int NOT NULL,
  PRIMARY KEY (stream, second, writer)
) WITH (fillfactor = 50);

CREATE TABLE suppressions (
  project      bigint NOT NULL REFERENCES projects,
  environment  text NOT NULL,
  address      text NOT NULL,                     -- normalised, see storage/suppressions
  reason       text NOT NULL CHECK (reason IN ('operator', 'bounce', 'complaint', 'unsubscribe')),
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (project, environment, address)
);

-- What a node reads of a route, here once for all statements (storage/route_row maps it). A next
-- grid that has started is the current one. read_at is the statement's start: the row is as old as
-- the snapshot, also where the statement waited for a lock before it answered.
CREATE VIEW route_readings AS
SELECT r.id, r.environment, r.generation, r.shard_count,
       CASE WHEN n.begun THEN r.grid_number + 1 ELSE r.grid_number END AS grid_number,
       CASE WHEN n.begun THEN r.next_start_ns ELSE r.grid_start_ns END AS grid_start_ns,
       CASE WHEN n.begun THEN r.next_target_mhz ELSE r.target_mhz END AS target_mhz,
       CASE WHEN n.begun THEN NULL ELSE r.next_start_ns END AS next_start_ns,
       CASE WHEN n.begun THEN NULL ELSE r.next_target_mhz END AS next_target_mhz,
       t.now_ns AS read_at_ns,
       CASE WHEN r.brake_until > statement_timestamp()
            THEN (extract(epoch FROM r.brake_until - statement_timestamp()) * 1e9)::bigint
            ELSE 0 END AS brake_left_ns,
       r.state, r.state_reason,
       CASE WHEN r.waiting_until > statement_timestamp()
            THEN (extract(epoch FROM r.waiting_until - statement_timestamp()) * 1e9)::bigint
            ELSE 0 END AS waiting_left_ns,
       coalesce(r.max_24h, -1) >= 0 AS daily_limited,
       coalesce(r.max_rate_mhz, 0) AS quota_mhz
  FROM routes r
 CROSS JOIN LATERAL (SELECT (extract(epoch FROM statement_timestamp()) * 1e9)::bigint AS now_ns) t
 CROSS JOIN LATERAL (SELECT coalesce(r.next_start_ns <= t.now_ns, false) AS begun) n;
