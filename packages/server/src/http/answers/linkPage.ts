import { HttpServerResponse } from "effect/http"

/** The product's logo, as in the control panel. */
const logo = `<svg aria-hidden="true" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round"><circle cx="16" cy="16" r="13"/><path d="M16 8v8l6 4"/></svg>`

/** A button that sends a field. */
interface LinkButton {
  readonly name: string
  readonly value: string
  readonly label: string
}

const formOf = (button: string | ReadonlyArray<LinkButton> | undefined): string => {
  if (button === undefined) return ""
  const buttons =
    typeof button === "string"
      ? [`<button>${button}</button>`]
      : button.map(
          ({ label, name, value }) => `<button name="${name}" value="${value}">${label}</button>`
        )
  return `<form method="post">${buttons.join(" ")}</form>`
}

/**
 * Creates the page that an emailed link opens. Email scanners open all links, so only the button
 * may change anything. The button sends the page's query to the same URL.
 */
export const linkPage = (text: string, button?: string | ReadonlyArray<LinkButton>, status = 200) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Scheduling Service</title>
<style>
  :root { color-scheme: light dark; font: 14px/1.6 system-ui, sans-serif }
  body { margin: 0; min-height: 100dvh; display: grid; place-items: center; background: light-dark(#fafbfc, #0e1116); color: light-dark(#15181f, #eff1f3) }
  main { box-sizing: border-box; width: 100%; max-width: 26rem; padding: 2.5rem 1rem }
  svg { width: 36px; color: light-dark(#007a53, #4fd49b) }
  h1 { margin: 1.25rem 0; font-size: 1.125rem; font-weight: 500; text-wrap: balance }
  button { font: inherit; font-weight: 500; height: 36px; padding: 0 14px; border: 0; border-radius: 8px; cursor: pointer; background: light-dark(#15181f, #eff1f3); color: light-dark(#fff, #0e1116) }
  button:hover { opacity: .85 }
  :focus-visible { outline: 2px solid light-dark(#2860d8, #8db8ff); outline-offset: 2px }
</style>
</head>
<body><main>${logo}<h1>${text}</h1>${formOf(button)}</main></body>
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

export const expiredLinkPage = linkPage("This link is no longer valid.", undefined, 404)
