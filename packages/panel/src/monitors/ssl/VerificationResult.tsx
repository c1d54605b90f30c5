import type { SslVerification } from "@scheduling/sdk"
import { Badge } from "../../ui/values/Status.tsx"

/** Shows the result of checking a certificate. */
export const VerificationResult = ({
  message,
  verification
}: {
  readonly verification: SslVerification
  readonly message: string | null
}) => (
  <>
    <Badge tone={verification === "ok" ? "ok" : "bad"}>{verification.replaceAll("_", " ")}</Badge>
    {message !== null && <span className="mt-1 block text-sm text-soft">{message}</span>}
  </>
)
