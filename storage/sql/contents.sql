-- What messages share.

-- name: insert_content
-- $1 id, $2 project, $3 hash bytea, $4 sender, $5 subject, $6 text, $7 HTML, $8 headers json.
INSERT INTO contents (id, project, hash, sender, subject, text_body, html_body, headers)
VALUES ($1::bigint, $2::bigint, $3::bytea, $4, $5, $6, $7, $8::json);

-- name: load_contents
-- $1 ids bigint[]. Index: contents_pkey, projects_pkey. Locks nothing.
-- The sender's domain stands behind the last @: its project may list it, or a domain above it.
SELECT c.id, encode(c.hash, 'hex') AS hash, c.sender, c.subject, c.text_body, c.html_body,
       c.headers,
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
