import type { CreatedWorker } from "@scheduling/sdk"
import { ShownOnce } from "../ui/values/ShownOnce.tsx"
import { AgentCommands } from "./AgentCommands.tsx"

export const ShownToken = ({ created: { name, token } }: { readonly created: CreatedWorker }) => (
  <ShownOnce
    title={`Save the token of ${name} now. It cannot be shown again.`}
    label="token"
    secret={token}
  >
    <AgentCommands token={token} />
  </ShownOnce>
)
