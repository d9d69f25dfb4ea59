-- ?1 owner, ?2 lease_until_us. Flag: it holds slots.
UPDATE slot SET lease_until_us = ?2 WHERE owner = ?1
