-- -> bytes of the store, bytes of a page
SELECT page_count * page_size, page_size FROM pragma_page_count(), pragma_page_size()
