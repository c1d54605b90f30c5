/**
 * The text that API responses contain in place of a credential in a header. If a client sends the
 * mask back, the service keeps the stored value.
 */
export const maskedValue = "•••"
