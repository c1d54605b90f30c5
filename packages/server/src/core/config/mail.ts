import { Schema, SchemaTransformation } from "effect"

export const SmtpUrl = Schema.RedactedFromValue(
  Schema.String.check(
    Schema.makeFilter((text) => URL.canParse(text) && /^smtps?:\/\/[^/?#]+/.test(text), {
      expected: "a URL that starts with smtp:// or smtps://"
    })
  ),
  { label: "SMTP_URL" }
)

export const MailFrom = Schema.String.check(
  Schema.makeFilter(
    (text) => /^(?:[^<>@\p{Cc}]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(text),
    {
      expected: "an address such as alerts@example.com or Alerts <alerts@example.com>"
    }
  )
)

/**
 * A private key in PEM. `\n` is replaced by a line break, because environment variables often
 * contain it instead.
 */
export const PrivateKey = Schema.RedactedFromValue(
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.String.check(
        Schema.makeFilter((key) => key.includes("-----BEGIN") && key.includes("PRIVATE KEY"), {
          expected: "a private key in PEM"
        })
      ),
      SchemaTransformation.transform({
        decode: (text: string) => text.replaceAll("\\n", "\n"),
        encode: (text) => text
      })
    )
  ),
  { label: "DKIM_PRIVATE_KEY" }
)

export const PublicUrl = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.makeFilter(
        (text) => /^https?:\/\/[^/?#@\s]+(?:\/[^?#\s]*)?$/.test(text) && URL.canParse(text),
        {
          expected: "an http or https URL without a query"
        }
      )
    ),
    SchemaTransformation.transform({
      decode: (text: string) => text.replace(/\/+$/, ""),
      encode: (text) => text
    })
  )
)

export const DkimName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_](?:[-.\w]*[A-Za-z0-9_])?$/, { expected: "a DNS name" })
)
