/** Nothing runs, loads or sends on the panel's page but its own files. Nothing in it is inline. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'"
].join("; ")

export const pageHeaders = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer"
}

/** For a year. Sent on https only, where browsers heed it. */
export const hsts = { "strict-transport-security": "max-age=31536000" }
