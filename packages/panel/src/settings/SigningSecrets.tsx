import { useQuery } from "@tanstack/react-query"
import { Eye, RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Code } from "../ui/values/Code.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { Card } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { Ago } from "../ui/values/Time.tsx"
import { tell } from "../ui/messages/toast.ts"
import { signingSecretsOptions } from "./queries.ts"

/** What receivers verify calls with. It is shown only when somebody asks. */
export const SigningSecrets = () => {
  const { api, workspaceId } = useWorkspace()
  const { data, error, isFetching, refetch } = useQuery(signingSecretsOptions(workspaceId))
  const [isRotating, setRotating] = useState(false)
  return (
    <Card className="flex flex-col gap-4 p-5">
      <p className="text-soft">
        All calls are signed with it, after Standard Webhooks, so that your server can tell them
        from others.
      </p>
      <Problem error={error} />
      {data?.map(({ expires_at, id, secret }) => (
        <div key={id} className="flex flex-col gap-1">
          <Code
            label={expires_at === null ? "signing secret" : "old signing secret"}
            text={secret}
            wrap
          />
          {expires_at !== null && (
            <p className="text-xs text-faint">
              The old one. It signs too, and ends <Ago at={expires_at} />.
            </p>
          )}
        </div>
      ))}
      <div className="flex flex-wrap gap-2">
        {data === undefined && (
          <Button
            icon={<Eye className="size-4" />}
            busy={isFetching}
            onClick={() => void refetch()}
          >
            Show
          </Button>
        )}
        <Button icon={<RefreshCw className="size-4" />} onClick={() => setRotating(true)}>
          Rotate
        </Button>
      </div>
      <Confirm
        isOpen={isRotating}
        onClose={() => setRotating(false)}
        title="Rotate the signing secret?"
        action="Rotate"
        onConfirm={async () => {
          await api.workspaces.rotateSigningSecret()
          tell("There is a new signing secret")
          await refetch()
        }}
      >
        Calls carry both signatures for 24 hours. Then the old secret ends.
      </Confirm>
    </Card>
  )
}
