import { Schema } from "effect"
import { Timestamp } from "../../shared/Timestamp.ts"

const fields = {
  subject: Schema.String.annotate({ description: "Whom it is for." }),
  issuer: Schema.String.annotate({ description: "Who signed it." }),
  fingerprint_sha256: Schema.String.annotate({ description: "SHA-256 of it, in hexadecimal." }),
  valid_from: Timestamp.annotate({ description: "When it begins to be valid." }),
  valid_to: Timestamp.annotate({ description: "When it expires." })
}

export const IssuerCertificate = Schema.Struct(fields).annotate({
  identifier: "IssuerCertificate"
})
export type IssuerCertificate = typeof IssuerCertificate.Type

export const Certificate = Schema.Struct({
  ...fields,
  names: Schema.Array(Schema.String).annotate({
    description: "The host names and addresses that it is for, 100 at most."
  }),
  serial: Schema.String.annotate({ description: "Its serial number, in hexadecimal." }),
  days_left: Schema.Int.annotate({
    description: "Whole days until it expires. Negative: it has expired."
  }),
  chain: Schema.Array(IssuerCertificate).annotate({
    description: "Those of its issuers, from its own on and without the root."
  })
}).annotate({ identifier: "Certificate" })
export type Certificate = typeof Certificate.Type
