-- Sessions of browsers, so that a server that starts again knows them. Only the SHA-256 of what the cookie has is kept; role
-- and namespaces are those that the token has by then. Written when a session begins, ends, and once an hour while it is used.
-- Retention deletes a row a week after that.
CREATE TABLE sign_in (
    digest {blob} NOT NULL PRIMARY KEY,
    token TEXT NOT NULL,                     -- id of the token that logged in
    begun_us {int} NOT NULL,
    seen_us {int} NOT NULL,                  -- at most an hour behind
    ended_us {int}                           -- it was logged out
) {rowless};
CREATE INDEX sign_in_seen ON sign_in (seen_us);
