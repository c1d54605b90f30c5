/**
 * Generates a random key. `crypto.randomUUID` is missing on pages that were not loaded over TLS.
 */
export const randomIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0")
  ).join("")
