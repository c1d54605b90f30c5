/** What answers show in place of a credential in a header. A task that is sent with it keeps the value. */
export const mask = "•••"
