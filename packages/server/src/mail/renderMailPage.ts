import { escapeHtml } from "../core/index.ts"

/**
 * Renders an email as HTML. The inline styles are for mail clients that ignore style sheets. In
 * other mail clients, the email follows the recipient's colour scheme. Long words break, so that an
 * email fits on a phone.
 */
export const renderMailPage = ({ body, color, footer, title }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>
  :root { color-scheme: light dark }
  body { margin: 0; background: #f4f4f5; color: #18181b }
  .card { background: #ffffff }
  .quiet { color: #52525b }
  p { margin: 0 0 8px }
  .facts { margin-top: 16px; border-collapse: collapse }
  .facts td { padding: 4px 16px 4px 0; vertical-align: top }
  .name { white-space: nowrap }
  .button { display: inline-block; padding: 10px 18px; border-radius: 6px; background: #0f766e; color: #ffffff; text-decoration: none }
  @media (max-width: 480px) { .facts td { display: block; padding: 0 } .facts td.name { padding-top: 10px } }
  @media (prefers-color-scheme: dark) {
    body { background: #09090b; color: #f4f4f5 }
    .card { background: #18181b }
    .quiet { color: #a1a1aa }
  }
</style>
</head>
<body style="margin:0;font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:15px;line-height:1.5">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:16px 8px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:600px;border-top:4px solid ${color};border-radius:6px;overflow-wrap:anywhere;word-break:break-word">
<tr><td style="padding:20px 20px 4px"><h1 style="margin:0 0 12px;font-size:19px;line-height:1.3">${escapeHtml(title)}</h1>
${body}
</td></tr>
<tr><td style="padding:16px 20px 20px;font-size:13px">${footer}</td></tr>
</table>
</td></tr></table>
</body>
</html>`

/** The parts of an email. `body` and `footer` are HTML. */
interface Page {
  readonly title: string
  readonly color: string
  readonly body: string
  readonly footer: string
}

/**
 * The colours of messages: `down` and `up` are for subjects that went down or recovered, and
 * `other` is for anything else.
 */
export const messageColors = { down: "#dc2626", up: "#16a34a", other: "#d97706" } as const
