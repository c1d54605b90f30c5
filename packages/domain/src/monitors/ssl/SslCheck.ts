import { Schema } from "effect"
import { Timestamp } from "../../shared/Timestamp.ts"
import { Certificate } from "./Certificate.ts"
import { SslVerification } from "./SslMonitor.ts"

export const SslCheck = Schema.Struct({
  at: Timestamp.annotate({ description: "When the check finished." }),
  verification: SslVerification,
  verification_message: Schema.NullOr(Schema.String).annotate({
    description: "What is wrong with the certificate, as a sentence. Null if it is valid."
  }),
  certificate: Schema.NullOr(Certificate).annotate({
    description: "The certificate of the server, valid or not. Null if there was none."
  }),
  duration_ms: Schema.Int.annotate({ description: "The duration of the check." })
}).annotate({
  identifier: "SslCheck",
  description: "The result of one check of a certificate.",
  examples: [
    {
      at: "2026-01-31T09:30:00.000Z",
      verification: "unreachable",
      verification_message: "Connection refused.",
      certificate: null,
      duration_ms: 14
    }
  ]
})
export type SslCheck = typeof SslCheck.Type
