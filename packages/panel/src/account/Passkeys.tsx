import {
  type PublicKeyCredentialCreationOptionsJSON,
  startRegistration
} from "@simplewebauthn/browser"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { queryClient } from "../data/queries.ts"
import { session } from "../data/session.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { Card, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { RelativeTime } from "../ui/values/Time.tsx"
import { type Passkey, passkeyOptions } from "./queries.ts"
import { OwnerProofField, ownerProofOf, rethrowAsPasswordError } from "./ownerProof.tsx"

type Step =
  | { readonly is: "rest" | "adding" }
  | { readonly is: "renaming" | "removing"; readonly passkey: Passkey }

const changed = () => queryClient.invalidateQueries(passkeyOptions)

export const Passkeys = () => {
  const { data, error, refetch } = useQuery(passkeyOptions)
  const [step, go] = useState<Step>({ is: "rest" })
  const rest = () => go({ is: "rest" })
  if (error !== null && data === undefined) return <Problem error={error} retry={refetch} />
  if (data === undefined) return <Skeleton className="h-24" />
  const { data: passkeys, has_password: hasPassword } = data
  return (
    <Card className="p-5">
      {step.is === "adding" && <AddForm hasPassword={hasPassword} onDone={rest} />}
      {step.is === "renaming" && <RenameForm passkey={step.passkey} onDone={rest} />}
      {step.is === "removing" && (
        <RemoveForm passkey={step.passkey} hasPassword={hasPassword} onDone={rest} />
      )}
      {step.is === "rest" && (
        <div className="flex flex-col gap-4">
          {passkeys.length > 0 && (
            <ul aria-label="Passkeys" className="divide-y divide-line">
              {passkeys.map((passkey) => (
                <PasskeyItem key={passkey.id} passkey={passkey} go={go} />
              ))}
            </ul>
          )}
          <div className="flex flex-wrap items-center justify-between gap-4">
            <p className="max-w-[28rem] text-sm text-soft">
              With a passkey you sign in with your fingerprint, your face or the PIN of your device,
              without a password or a code.
            </p>
            <Button onClick={() => go({ is: "adding" })}>Add passkey</Button>
          </div>
        </div>
      )}
    </Card>
  )
}

const PasskeyItem = ({
  go,
  passkey
}: {
  readonly passkey: Passkey
  readonly go: (step: Step) => void
}) => (
  <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3 first:pt-0">
    <div className="min-w-0 grow">
      <bdi className="block font-medium wrap-anywhere">{passkey.name}</bdi>
      <span className="text-sm text-soft">
        {passkey.last_used_at === null ? (
          "never used"
        ) : (
          <>
            last used <RelativeTime at={passkey.last_used_at} />
          </>
        )}
      </span>
    </div>
    <div className="flex gap-2">
      <Button size="small" onClick={() => go({ is: "renaming", passkey })}>
        Rename
      </Button>
      <Button size="small" look="danger" onClick={() => go({ is: "removing", passkey })}>
        Remove
      </Button>
    </div>
  </li>
)

const AddForm = ({
  hasPassword,
  onDone
}: {
  readonly hasPassword: boolean
  readonly onDone: () => void
}) => {
  const form = useForm({
    initial: { name: "", current_password: "" },
    send: async ({ current_password, name }) => {
      const { challenge, options } = await session
        .askPanel<{
          readonly challenge: string
          readonly options: PublicKeyCredentialCreationOptionsJSON
        }>("/panel/session/passkeys/options", ownerProofOf(current_password))
        .catch(rethrowAsPasswordError(hasPassword))
      const response = await startRegistration({ optionsJSON: options })
      await session.askPanel("/panel/session/passkeys/add", { challenge, response, name })
      showSuccessToast("The passkey was added")
      await changed()
      onDone()
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field
        label="Name"
        hint="The device or security key, so that you can recognize it later."
        error={form.errorOf("name")}
      >
        <Input {...form.text("name")} placeholder="Laptop" required maxLength={100} autoFocus />
      </Field>
      <OwnerProofField form={form} hasPassword={hasPassword} />
      <FormFooter form={form} action="Add passkey" onCancel={onDone} />
    </form>
  )
}

const RenameForm = ({
  onDone,
  passkey
}: {
  readonly passkey: Passkey
  readonly onDone: () => void
}) => {
  const form = useForm({
    initial: { name: passkey.name },
    send: async ({ name }) => {
      await session.askPanel("/panel/session/passkeys/rename", { id: passkey.id, name })
      await changed()
      onDone()
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field label="Name of the passkey" error={form.errorOf("name")}>
        <Input {...form.text("name")} required maxLength={100} autoFocus />
      </Field>
      <FormFooter form={form} action="Rename passkey" onCancel={onDone} />
    </form>
  )
}

const RemoveForm = ({
  hasPassword,
  onDone,
  passkey
}: {
  readonly passkey: Passkey
  readonly hasPassword: boolean
  readonly onDone: () => void
}) => {
  const form = useForm({
    initial: { current_password: "" },
    send: async ({ current_password }) => {
      await session
        .askPanel("/panel/session/passkeys/remove", {
          id: passkey.id,
          ...ownerProofOf(current_password)
        })
        .catch(rethrowAsPasswordError(hasPassword))
      showSuccessToast("The passkey was removed")
      await changed()
      onDone()
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <p>
        Remove the passkey <bdi className="font-medium wrap-anywhere">{passkey.name}</bdi>? It can
        no longer be used to sign in.
      </p>
      <OwnerProofField form={form} hasPassword={hasPassword} autoFocus />
      <FormFooter form={form} action="Remove passkey" look="danger" onCancel={onDone} />
    </form>
  )
}
