import { Schema } from "effect"
import { secret } from "../shared/secret.ts"
import { Password } from "./User.ts"

export const recoveryCodeCount = 10

/** A six-digit code from an app, or a recovery code. Spaces and dashes are ignored. */
export const TotpCode = secret(
  "code",
  {
    description: "Six digits from the app, or a recovery code. Each works once.",
    examples: ["287082"]
  },
  Schema.String.check(Schema.isBetweenLength(6, 32))
)

export const TotpStatus = Schema.Struct({
  enabled: Schema.Boolean.annotate({ description: "True if a login needs a code." }),
  recovery_codes_left: Schema.Int.annotate({ description: "Number of unused recovery codes." })
}).annotate({ identifier: "TotpStatus", examples: [{ enabled: true, recovery_codes_left: 10 }] })
export type TotpStatus = typeof TotpStatus.Type

export const TotpStart = Schema.Struct({ current_password: Password }).annotate({
  identifier: "TotpStart"
})

export const TotpSecret = Schema.Struct({
  secret: secret("totp", {
    description: "The secret in base32, for manual entry in an app.",
    examples: ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"]
  }),
  uri: secret("totp", {
    description: "The secret as an `otpauth` URI, for display as a QR code.",
    examples: ["otpauth://totp/Scheduling:ada@example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"]
  })
}).annotate({ identifier: "TotpSecret" })
export type TotpSecret = typeof TotpSecret.Type

export const TotpConfirmation = Schema.Struct({ code: TotpCode }).annotate({
  identifier: "TotpConfirmation"
})

export const RecoveryCodes = Schema.Struct({
  recovery_codes: Schema.Array(
    secret("code", { description: "A recovery code, which works once.", examples: ["abcde-fghij"] })
  ).annotate({
    description: `${recoveryCodeCount} codes that replace the app if it is lost. Only this response contains them.`
  })
}).annotate({ identifier: "RecoveryCodes" })
export type RecoveryCodes = typeof RecoveryCodes.Type

export const TotpRemoval = Schema.Struct({ current_password: Password, code: TotpCode }).annotate({
  identifier: "TotpRemoval"
})
