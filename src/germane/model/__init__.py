"""What people declare and receive: items, documents, schemas, weights, pages, reports, errors."""
