-- What the pages of the console keep for whoever is logged in. Written and deleted by that one.
CREATE TABLE preference (
    principal TEXT NOT NULL,                 -- id of the token, or of what else says who somebody is
    surface TEXT NOT NULL,
    body TEXT NOT NULL,                      -- JSON
    updated_us {int} NOT NULL,
    PRIMARY KEY (principal, surface)
) {rowless};

-- Links that answer one wait, once and without an account. Only the SHA-256 of the token is kept. The answer is a command
-- whose request id is the link's id and `turn`, so that a link answers once whatever becomes of `used_us`, which is
-- written after it and only says so. Retention deletes a link a week after its end.
CREATE TABLE answer_link (
    key {int} NOT NULL PRIMARY KEY,
    digest {blob} NOT NULL UNIQUE,
    namespace {int} NOT NULL,
    instance_id TEXT NOT NULL,
    run {int} NOT NULL,
    step {int} NOT NULL,
    name TEXT NOT NULL,                      -- of the signal
    label TEXT NOT NULL,                     -- for whom it is
    created_by TEXT NOT NULL,
    created_us {int} NOT NULL,
    expires_us {int} NOT NULL,
    turn {int} NOT NULL,                     -- how many answers were refused
    used_us {int},
    used_from TEXT,                          -- the address it came from
    revoked_us {int}
) {cold};
CREATE INDEX answer_link_wait ON answer_link (namespace, run, step);
CREATE INDEX answer_link_expires ON answer_link (expires_us);
