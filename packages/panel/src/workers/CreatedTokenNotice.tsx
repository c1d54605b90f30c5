import type { CreatedWorker } from "@scheduling/sdk"
import { SecretShownOnce } from "../ui/values/SecretShownOnce.tsx"
import { AgentCommands } from "./AgentCommands.tsx"

export const CreatedTokenNotice = ({
  created: { name, token }
}: {
  readonly created: CreatedWorker
}) => (
  <SecretShownOnce
    title={`Save the token of ${name} now. It cannot be shown again.`}
    label="token"
    secret={token}
  >
    <AgentCommands token={token} />
  </SecretShownOnce>
)
