/** Allows the page to load its own files and connect to its own service, but no inline scripts. */
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

/** The security headers in the responses with the panel's pages. */
export const pageHeaders = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer"
}

/** HSTS for one year. Browsers respect the header only on HTTPS. */
export const hstsHeaders = { "strict-transport-security": "max-age=31536000" }
