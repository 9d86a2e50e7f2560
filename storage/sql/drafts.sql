-- Campaigns that are put together by several calls.

-- name: insert_draft_stream
-- $1 id, $2 project, $3 route, $4 priority, $5 weight, $6 rate cap in millihertz or NULL. Paused
-- until it is sent.
INSERT INTO streams (id, project, route, kind, state, priority, weight, rate_cap_mhz)
VALUES ($1::bigint, $2::bigint, $3::int, 'campaign', 'paused', $4::smallint, $5::int, $6::bigint);

-- name: insert_draft
-- $1 id, $2 content, $3 key (0: none), $4 name.
INSERT INTO campaigns (id, content, key, name, state)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, 'draft');

-- name: find_draft
-- $1 id. Whether it is there. Locks nothing. Index: campaigns_pkey.
SELECT 1 FROM campaigns WHERE id = $1::bigint;

-- name: append_recipients
-- $1 campaign, $2 ids bigint[], $3 addresses text[], $4 fields text[]; after lock_campaign in the
-- same transaction. How many were new, and the audience now.
-- Locks: none beyond those; another page of this campaign waits there. Index: campaigns_pkey,
-- campaign_recipients_pkey. The hashed look-up stays one (a join would be planned for ten rows).
WITH asked AS MATERIALIZED (
  SELECT w.id, w.address, w.fields, md5(w.address)::uuid AS hash
    FROM unnest($2::bigint[], $3::text[], $4::text[]) AS w(id, address, fields)
), noted AS (
  INSERT INTO campaign_recipients (campaign, recipient)
  SELECT DISTINCT $1::bigint, a.hash FROM asked a
  ON CONFLICT DO NOTHING
  RETURNING recipient
), firsts AS MATERIALIZED (
  SELECT DISTINCT ON (a.hash) a.id, a.address, a.fields
    FROM asked a
   WHERE CASE WHEN a.hash IN (SELECT n.recipient FROM noted n) THEN true ELSE false END
   ORDER BY a.hash, a.id
), inserted AS (
  INSERT INTO messages (id, project, key, stream, content, ordinal, recipients, fields)
  SELECT f.id, s.project, c.key, c.id, c.content,
         c.audience + row_number() OVER (ORDER BY f.id), ARRAY[f.address], f.fields::json
    FROM firsts f
   CROSS JOIN (SELECT a.id, a.key, a.content, a.audience FROM campaigns a
                WHERE a.id = $1::bigint) c
    JOIN streams s ON s.id = c.id
  RETURNING id
), added AS MATERIALIZED (
  SELECT count(*) AS n, min(id) AS first, max(id) AS last FROM inserted
), grown AS (
  UPDATE campaigns c
     SET audience = c.audience + a.n, has_recipient_keys = true,
         first_message = r.first, last_message = greatest(c.last_message, a.last),
         expanded_to = r.first - 1
    FROM added a
   CROSS JOIN LATERAL (
         SELECT least(a.first, (SELECT o.first_message FROM campaigns o
                                 WHERE o.id = $1::bigint AND o.audience > 0)) AS first) r
   WHERE c.id = $1::bigint AND a.n > 0
  RETURNING c.audience
)
SELECT a.n AS added,
       coalesce((SELECT g.audience FROM grown g),
                (SELECT c.audience FROM campaigns c WHERE c.id = $1::bigint)) AS audience
  FROM added a;

-- name: send_draft
-- $1 campaign; after lock_campaign in the same transaction. No row: it has no recipient.
WITH sent AS (
  UPDATE campaigns SET state = 'sending', requested_at = clock_timestamp()
   WHERE id = $1::bigint AND audience > 0
  RETURNING id
)
UPDATE streams s SET state = 'running' FROM sent WHERE s.id = sent.id
RETURNING 1;

-- name: forget_recipients
-- $1 limit. One campaign that is no draft any more, and up to that many of its addresses.
-- Locks: the rows it deletes, then the campaign. Index: campaigns_with_recipient_keys,
-- campaign_recipients_pkey.
WITH campaign AS MATERIALIZED (
  SELECT c.id
    FROM campaigns c
   WHERE c.has_recipient_keys AND c.state <> 'draft'
   ORDER BY c.id
   LIMIT 1
), page AS MATERIALIZED (
  SELECT r.ctid AS place
    FROM campaign_recipients r
   WHERE r.campaign = (SELECT id FROM campaign)
   LIMIT $1::int
), deleted AS (
  DELETE FROM campaign_recipients WHERE ctid = ANY (ARRAY(SELECT place FROM page))
), emptied AS (
  UPDATE campaigns c SET has_recipient_keys = false
    FROM campaign d
   WHERE c.id = d.id AND (SELECT count(*) FROM page) < $1::int
)
SELECT count(*) FROM page;
