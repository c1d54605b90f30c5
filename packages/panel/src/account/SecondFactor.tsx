import type { TotpSecret } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"
import { Button, buttonClasses } from "../ui/actions/Button.tsx"
import { Code } from "../ui/values/Code.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { CurrentPasswordField } from "../ui/forms/PasswordFields.tsx"
import { Card, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { SecretShownOnce } from "../ui/values/SecretShownOnce.tsx"
import { Status } from "../ui/values/Status.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { rethrowAsFieldProblem } from "./rethrowAsFieldProblem.ts"
import { Qr } from "./Qr.tsx"
import { totpOptions } from "./queries.ts"

type Step =
  | { readonly is: "rest" | "password" | "removal" }
  | { readonly is: "secret"; readonly secret: TotpSecret }
  | { readonly is: "codes"; readonly codes: ReadonlyArray<string> }

const changed = () => queryClient.invalidateQueries(totpOptions)

export const SecondFactor = () => {
  const { data, error, refetch } = useQuery(totpOptions)
  const [step, go] = useState<Step>({ is: "rest" })
  const rest = () => go({ is: "rest" })
  if (error !== null && data === undefined) return <Problem error={error} retry={refetch} />
  if (data === undefined) return <Skeleton className="h-24" />
  if (step.is === "codes") {
    return (
      <SecretShownOnce
        title="Save these recovery codes. They cannot be shown again."
        label="recovery codes"
        secret={step.codes.join("\n")}
      >
        <p className="text-sm text-soft">If you lose the app, you can use each code once.</p>
        <div>
          <Button onClick={rest}>I have saved the codes</Button>
        </div>
      </SecretShownOnce>
    )
  }
  return (
    <Card className="p-5">
      {step.is === "rest" && (
        <div className="flex flex-wrap items-center justify-between gap-4">
          <div>
            <Status of={data.enabled ? "active" : "off"} />
            <p className="mt-1 text-sm text-soft">
              {data.enabled
                ? `Signing in requires a code. Recovery codes left: ${data.recovery_codes_left}.`
                : "With a second factor, a stolen password is not enough to sign in."}
            </p>
          </div>
          {data.enabled ? (
            <Button look="danger" onClick={() => go({ is: "removal" })}>
              Remove second factor
            </Button>
          ) : (
            <Button onClick={() => go({ is: "password" })}>Set up second factor</Button>
          )}
        </div>
      )}
      {step.is === "password" && (
        <StartForm onCancel={rest} onStarted={(secret) => go({ is: "secret", secret })} />
      )}
      {step.is === "secret" && (
        <ConfirmForm
          secret={step.secret}
          onCancel={rest}
          onConfirmed={(codes) => go({ is: "codes", codes })}
        />
      )}
      {step.is === "removal" && <RemovalForm onDone={rest} />}
    </Card>
  )
}

const StartForm = ({
  onCancel,
  onStarted
}: {
  readonly onStarted: (secret: TotpSecret) => void
  readonly onCancel: () => void
}) => {
  const form = useForm({
    initial: { current_password: "" },
    send: async (values) => onStarted(await client.totp.start(values).catch(rethrowAsFieldProblem))
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <CurrentPasswordField
        label="Your password"
        {...form.text("current_password")}
        error={form.errorOf("current_password")}
        autoFocus
      />
      <FormFooter form={form} action="Continue" onCancel={onCancel} />
    </form>
  )
}

const ConfirmForm = ({
  onCancel,
  onConfirmed,
  secret: { secret, uri }
}: {
  readonly secret: TotpSecret
  readonly onConfirmed: (codes: ReadonlyArray<string>) => void
  readonly onCancel: () => void
}) => {
  const form = useForm({
    initial: { code: "" },
    send: async (values) => {
      const { recovery_codes } = await client.totp.confirm(values).catch(rethrowAsFieldProblem)
      await changed()
      onConfirmed(recovery_codes)
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <p className="text-soft">
        Scan this code with your authenticator app, or type in the secret.
      </p>
      <Qr label="QR code for the authenticator app" text={uri} />
      {/* A phone cannot scan its own screen. */}
      <a href={uri} className={buttonClasses({}, "self-start sm:hidden")}>
        Open authenticator app
      </a>
      <Code label="secret" text={secret} wrap />
      <Field label="Code from the app" error={form.errorOf("code")}>
        <Input
          {...form.text("code")}
          mono
          autoFocus
          inputMode="numeric"
          autoComplete="one-time-code"
          required
        />
      </Field>
      <FormFooter form={form} action="Confirm code" onCancel={onCancel} />
    </form>
  )
}

const RemovalForm = ({ onDone }: { readonly onDone: () => void }) => {
  const form = useForm({
    initial: { current_password: "", code: "" },
    send: async (values) => {
      await client.totp.delete(values).catch(rethrowAsFieldProblem)
      showSuccessToast("The second factor was removed")
      await changed()
      onDone()
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <CurrentPasswordField
        label="Your password"
        {...form.text("current_password")}
        error={form.errorOf("current_password")}
        autoFocus
      />
      <Field label="Code or recovery code" error={form.errorOf("code")}>
        <Input {...form.text("code")} mono autoComplete="one-time-code" required />
      </Field>
      <FormFooter form={form} action="Remove second factor" look="danger" onCancel={onDone} />
    </form>
  )
}
