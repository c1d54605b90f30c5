import { HttpServerResponse } from "effect/http"

/**
 * A page behind the link of a mail. Scanners of mail servers open all links, so only its button may
 * change something. It sends what it was opened with, to the same address.
 */
export const linkPage = (text: string, button?: string, status = 200) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Scheduling Service</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  main { max-width: 32rem; margin: 20vh auto; padding: 0 1rem }
  button { font: inherit; padding: .6rem 1.2rem }
</style>
</head>
<body><main><p>${text}</p>${button === undefined ? "" : `<form method="post"><button>${button}</button></form>`}</main></body>
</html>`,
    {
      status,
      contentType: "text/html; charset=utf-8",
      headers: {
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "content-security-policy":
          "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
      }
    }
  )

export const linkGone = linkPage("This link is no longer valid.", undefined, 404)
