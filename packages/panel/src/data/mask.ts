/**
 * Replaces credentials in headers in API responses. A task that is sent with the mask keeps the
 * stored value.
 */
export const mask = "•••"
