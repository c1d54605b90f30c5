import type { Trigger, TriggerInput, TriggerSender } from "@scheduling/sdk"
import { type QueryKey, useQuery, useQueryClient } from "@tanstack/react-query"
import { Pencil, RefreshCw, Trash2, Zap } from "lucide-react"
import { useState } from "react"
import * as bounds from "../data/bounds.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Confirm, Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Input, Select } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { inputPropsOf } from "../ui/forms/inputProps.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { Card, Facts, Section } from "../ui/layout/Page.tsx"
import { Loaded } from "../ui/messages/Loaded.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { RoleGate } from "../ui/role.tsx"
import { Code } from "../ui/values/Code.tsx"
import { ShortTime } from "../ui/values/Time.tsx"

/** The SDK methods for a task kind's trigger URL. */
export interface TriggerResource {
  readonly getTrigger: (
    id: string,
    options: { readonly signal: AbortSignal }
  ) => PromiseLike<Trigger>
  readonly setTrigger: (id: string, input: TriggerInput) => PromiseLike<Trigger>
  readonly rotateTriggerUrl: (id: string) => PromiseLike<Trigger>
  readonly deleteTrigger: (id: string) => PromiseLike<unknown>
}

interface Props {
  readonly taskId: string
  readonly resource: TriggerResource
  /** The query key for this kind of task. */
  readonly queryKey: QueryKey
}

/** Shows the URL that other systems can call to run the task. */
export const TriggerSection = ({ queryKey, resource, taskId }: Props) => {
  const queries = useQueryClient()
  const key = [...queryKey, taskId, "trigger"]
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => Promise.resolve(resource.getTrigger(taskId, { signal }))
  })
  const [open, setOpen] = useState<"settings" | "rotation" | "removal">()
  const close = () => setOpen(undefined)
  const changed = () => queries.invalidateQueries({ queryKey: key })
  return (
    <Section title="Trigger URL">
      <Loaded query={query} height="h-24">
        {(trigger) => (
          <Card className="flex flex-col gap-4 p-5">
            {trigger.enabled ? (
              <TriggerFacts trigger={trigger} />
            ) : (
              <p className="text-soft">{off}</p>
            )}
            <RoleGate role="editor">
              {trigger.enabled ? (
                <div className="flex flex-wrap gap-2">
                  <Button icon={<Pencil />} onClick={() => setOpen("settings")}>
                    Change sender
                  </Button>
                  <Button icon={<RefreshCw />} onClick={() => setOpen("rotation")}>
                    Replace URL
                  </Button>
                  <Button icon={<Trash2 />} onClick={() => setOpen("removal")}>
                    Turn off
                  </Button>
                </div>
              ) : (
                <div>
                  <Button icon={<Zap />} onClick={() => setOpen("settings")}>
                    Turn on trigger URL
                  </Button>
                </div>
              )}
            </RoleGate>
            {open === "settings" && (
              <SenderSheet
                trigger={trigger}
                onClose={close}
                onSave={async (input) => {
                  await resource.setTrigger(taskId, input)
                  showSuccessToast(
                    trigger.enabled ? "The sender was changed" : "The trigger URL was turned on"
                  )
                  await changed()
                  close()
                }}
              />
            )}
          </Card>
        )}
      </Loaded>
      <Confirm
        isOpen={open === "rotation"}
        onClose={close}
        title="Replace the trigger URL?"
        action="Replace URL"
        onConfirm={async () => {
          await resource.rotateTriggerUrl(taskId)
          showSuccessToast("The trigger URL was replaced")
          await changed()
        }}
      >
        The old URL stops working immediately. Enter the new URL wherever you use the old one.
      </Confirm>
      <Confirm
        isOpen={open === "removal"}
        onClose={close}
        title="Turn off the trigger URL?"
        action="Turn off"
        onConfirm={async () => {
          await resource.deleteTrigger(taskId)
          showSuccessToast("The trigger URL was turned off")
          await changed()
        }}
      >
        The URL stops working immediately and cannot be restored.
      </Confirm>
    </Section>
  )
}

const off =
  "GitHub, Stripe, Slack or a script can start runs with a trigger URL. The body of each request becomes the input of a run. This task has no trigger URL yet."

const senderNames: Readonly<Record<TriggerSender, string>> = {
  standard_webhooks: "Standard Webhooks",
  github: "GitHub",
  stripe: "Stripe",
  slack: "Slack"
}

const senderOptions = [
  ["", "Nobody: the URL alone is enough"],
  ...Object.entries(senderNames)
] as ReadonlyArray<readonly [string, string]>

const TriggerFacts = ({ trigger: { created_at, sender, url } }: { readonly trigger: Trigger }) => (
  <>
    {url !== null && (
      <>
        <Code label="trigger URL" text={url} wrap />
        <p className="text-xs text-faint">
          This URL is a secret. {sender === null ? "Anyone who has it" : senderNames[sender]} can
          run the task with a POST.
        </p>
      </>
    )}
    <Facts
      facts={{
        "Signed by": sender === null ? "Nobody" : senderNames[sender],
        Created: created_at === null ? null : <ShortTime at={created_at} />
      }}
    />
  </>
)

interface SenderValues {
  readonly signature: { readonly sender: TriggerSender | ""; readonly secret: string }
}

const inputOf = ({ signature: { secret, sender } }: SenderValues): TriggerInput => ({
  signature: sender === "" ? null : { sender, secret }
})

/** A form for selecting the sender whose signature requests must have. */
const SenderSheet = ({
  onClose,
  onSave,
  trigger
}: {
  readonly trigger: Trigger
  readonly onClose: () => void
  readonly onSave: (input: TriggerInput) => Promise<void>
}) => {
  const form = useForm<SenderValues>({
    initial: { signature: { sender: trigger.sender ?? "", secret: "" } },
    send: (values) => onSave(inputOf(values))
  })
  const { signature } = form.values
  const { sender } = signature
  const text = inputPropsOf(signature, (change) =>
    form.set({ signature: { ...signature, ...change } })
  )
  return (
    <Sheet
      isOpen
      onClose={onClose}
      title={trigger.enabled ? "Change the sender" : "Turn on the trigger URL"}
    >
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field
          label="Requests must be signed by"
          hint="Requests without a valid signature are rejected."
          error={form.errorOf("signature", "sender")}
        >
          <Select {...text("sender")} options={senderOptions} />
        </Field>
        {sender !== "" && (
          <Field
            label="Secret"
            hint={secretHints[sender]}
            error={form.errorOf("signature", "secret")}
          >
            <Input
              {...text("secret")}
              {...bounds.ServiceSignature.secret}
              type="password"
              required
              autoComplete="off"
            />
          </Field>
        )}
        <FormFooter
          form={form}
          action={trigger.enabled ? "Save changes" : "Turn on"}
          needs="editor"
          onCancel={onClose}
        />
      </form>
    </Sheet>
  )
}

const secretHints: Readonly<Record<TriggerSender, string>> = {
  standard_webhooks: "The sender's secret: whsec_ followed by base64.",
  github: "The webhook's secret, at least 8 characters.",
  stripe: "The endpoint's signing secret, which begins with whsec_.",
  slack: "The app's signing secret, under Basic Information."
}
