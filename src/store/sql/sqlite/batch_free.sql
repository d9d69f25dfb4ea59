-- ?1 key, ?2 epoch: whoever held it under this epoch leaves it to others. Flag: it did.
UPDATE batch SET owner = NULL, lease_until_us = NULL WHERE key = ?1 AND epoch = ?2
