import type { CreatedWorker } from "@scheduling/sdk"
import { Snippets } from "../ui/values/Code.tsx"
import { ShownOnce } from "../ui/values/ShownOnce.tsx"

/** The token that the agent of a worker starts with. */
export const ShownToken = ({ created: { name, token } }: { readonly created: CreatedWorker }) => (
  <ShownOnce
    title={`Save the token of ${name} now. It cannot be shown again.`}
    label="token"
    secret={token}
  >
    <Snippets
      label="Start the agent"
      snippets={[
        [
          "Shell",
          `export SCHEDULING_URL=${location.origin}
export SCHEDULING_WORKER_TOKEN=${token}
npx scheduling-agent check
npx scheduling-agent run --allow 10.0.0.0/8`
        ]
      ]}
    />
  </ShownOnce>
)
