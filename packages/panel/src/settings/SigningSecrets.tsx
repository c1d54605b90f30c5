import type { SigningSecret } from "@scheduling/sdk"
import { useSearch } from "@tanstack/react-router"
import { RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { Card } from "../ui/layout/Page.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { Code } from "../ui/values/Code.tsx"
import { ShortTime } from "../ui/values/Time.tsx"

/**
 * Shows the secrets with which the service signs its calls to a server of the user. They are fetched
 * on request and not cached.
 */
export const SigningSecrets = () => {
  const { api } = useWorkspace()
  const { receiver = "" } = useSearch({ from: "/inside/w/$workspaceId/settings" })
  const [secrets, setSecrets] = useState<ReadonlyArray<SigningSecret>>([])
  const [isRotating, setRotating] = useState(false)
  const show = async (url: string) =>
    setSecrets((await api.workspaces.getSigningSecrets({ url: originOf(url), limit: 10 })).data)
  const form = useForm({ initial: { url: receiver }, send: ({ url }) => show(url) })
  const shown = secrets[0]?.origin
  return (
    <Card className="flex flex-col gap-4 p-5">
      <p className="text-soft">
        The service signs its calls and messages as specified by Standard Webhooks, so that your
        server can verify them. Each origin (scheme, host and port) has its own secrets.
      </p>
      <form className="flex flex-col gap-4" onSubmit={form.submit}>
        <Field label="URL of your server" error={form.errorOf("url")}>
          <Input
            {...form.text("url")}
            type="url"
            required
            placeholder="https://api.example.com/jobs/nightly"
          />
        </Field>
        <FormFooter form={form} action="Show signing secrets" look="plain" needs="admin" />
      </form>
      {secrets.map((secret) => (
        <Secrets key={secret.id} secret={secret} />
      ))}
      <div className="border-t border-line pt-4">
        <Button icon={<RefreshCw />} onClick={() => setRotating(true)}>
          Rotate all signing secrets
        </Button>
      </div>
      <Confirm
        isOpen={isRotating}
        onClose={() => setRotating(false)}
        title="Rotate the signing secrets?"
        action="Rotate secrets"
        onConfirm={async () => {
          await api.workspaces.rotateSigningSecret()
          showSuccessToast("The signing secrets were rotated")
          if (shown !== undefined) await show(shown)
        }}
      >
        The secrets of all your servers change. Calls and messages have both signatures for 24
        hours. After that the old secrets are no longer used.
      </Confirm>
    </Card>
  )
}

const Secrets = ({
  secret: { call_secret, expires_at, message_secret, origin }
}: {
  readonly secret: SigningSecret
}) => {
  const old = expires_at === null ? "" : "old "
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm">
        <span className="font-mono break-all">{origin}</span>
        {expires_at !== null && (
          <span className="text-faint">
            {" "}
            The old secrets, which are used until <ShortTime at={expires_at} />.
          </span>
        )}
      </p>
      <div className="flex flex-col gap-1">
        <p className="text-sm text-soft">Calls of tasks and chains</p>
        <Code label={`${old}secret for calls`} text={call_secret} wrap />
      </div>
      <div className="flex flex-col gap-1">
        <p className="text-sm text-soft">Callbacks and webhook channels</p>
        <Code label={`${old}secret for messages`} text={message_secret} wrap />
      </div>
    </div>
  )
}

/** Returns a URL's origin. The other parts are not sent, because they can contain credentials. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url)
