import { Schema } from "effect"
import { Timestamp } from "../../shared/Timestamp.ts"

const fields = {
  subject: Schema.String.annotate({ description: "The subject of the certificate." }),
  issuer: Schema.String.annotate({ description: "The issuer that signed the certificate." }),
  fingerprint_sha256: Schema.String.annotate({
    description: "SHA-256 of the certificate, in hexadecimal."
  }),
  valid_from: Timestamp.annotate({ description: "When the certificate becomes valid." }),
  valid_to: Timestamp.annotate({ description: "When the certificate expires." })
}

export const IssuerCertificate = Schema.Struct(fields).annotate({
  identifier: "IssuerCertificate"
})
export type IssuerCertificate = typeof IssuerCertificate.Type

export const Certificate = Schema.Struct({
  ...fields,
  names: Schema.Array(Schema.String).annotate({
    description: "The host names and addresses of the certificate, at most 100."
  }),
  serial: Schema.String.annotate({ description: "The serial number, in hexadecimal." }),
  days_left: Schema.Int.annotate({
    description: "Whole days until the certificate expires. Negative if it has expired."
  }),
  chain: Schema.Array(IssuerCertificate).annotate({
    description:
      "The certificates of the issuers, beginning with the direct issuer, without the root."
  })
}).annotate({ identifier: "Certificate" })
export type Certificate = typeof Certificate.Type
