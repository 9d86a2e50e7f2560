-- What messages share.

-- name: insert_content
-- $1 id, $2 project, $3 hash bytea, $4 sender, $5 subject, $6 text, $7 HTML, $8 headers json,
-- $9 missing, $10 defaults json.
INSERT INTO contents (id, project, hash, sender, subject, text_body, html_body, headers, missing,
                      defaults)
VALUES ($1::bigint, $2::bigint, $3::bytea, $4, $5, $6, $7, $8::json, $9::smallint, $10::json);

-- name: insert_attachment
-- $1 content, $2 position, $3 name, $4 media type, $5 content id, $6 data bytea.
INSERT INTO content_attachments (content, position, name, media_type, content_id, data)
VALUES ($1::bigint, $2::smallint, $3::text, $4::text, $5::text, $6::bytea);

-- name: load_attachments
-- $1 content. Index: content_attachments_pkey. Locks nothing.
SELECT name, media_type, content_id, data
  FROM content_attachments
 WHERE content = $1::bigint
 ORDER BY position;

-- name: load_contents
-- $1 ids bigint[]. Index: contents_pkey, content_attachments_pkey, projects_pkey. Locks nothing.
-- The sender's domain stands behind the last @: its project may list it, or a domain above it.
SELECT c.id, encode(c.hash, 'hex') AS hash, c.sender, c.subject, c.text_body, c.html_body,
       c.headers, c.missing, c.defaults,
       EXISTS (SELECT FROM content_attachments t WHERE t.content = c.id) AS has_attachments,
       cardinality(p.sender_domains) = 0
         OR EXISTS (SELECT FROM unnest(p.sender_domains) AS a(domain)
                     WHERE d.domain = lower(a.domain)
                        OR right(d.domain, length(a.domain) + 1) = '.' || lower(a.domain))
         AS sender_allowed
  FROM contents c
  JOIN projects p ON p.id = c.project
 CROSS JOIN LATERAL (
       SELECT lower(rtrim(substring(c.sender FROM '@([^@]*)$'), '> ')) AS domain) d
 WHERE c.id = ANY ($1::bigint[]);
