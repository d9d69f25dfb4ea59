-- ?1 owner: nobody else can be at work on this store, so that what others held is free. Flag: there was something.
DELETE FROM slot WHERE owner <> ?1
