/** The page loads, runs and connects to nothing but its own files. Nothing is inline. */
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

/** One year. Sent only on HTTPS, where browsers obey it. */
export const hsts = { "strict-transport-security": "max-age=31536000" }
