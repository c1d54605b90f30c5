import type { Secret } from "@scheduling/sdk"
import * as bounds from "../data/bounds.ts"
import { useWorkspace } from "../data/client.ts"
import { queryClient, bypassCache } from "../data/queries.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Input, Textarea } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { FieldProblem } from "../ui/forms/issues.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { refetchSecrets, secretsOptions } from "./queries.ts"
import {
  addedHosts,
  newSecretValues,
  secretInputOf,
  secretNameOf,
  secretReference,
  secretValuesOf
} from "./secretValues.ts"

export const SecretSheet = ({
  onClose,
  onSaved,
  secret
}: {
  /** Absent for a new secret. */
  readonly secret?: Secret
  readonly onClose: () => void
  readonly onSaved?: (name: string) => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const form = useForm({
    initial: secret === undefined ? newSecretValues : secretValuesOf(secret),
    send: async (values) => {
      if (secret === undefined) {
        // Check first, because the API would overwrite a secret with the same name.
        const known = await queryClient.fetchQuery(bypassCache(secretsOptions(workspaceId)))
        if (known.some(({ name }) => name === values.name)) {
          throw new FieldProblem("name", `A secret with the name ${values.name} already exists.`)
        }
      }
      await api.secrets.upsert(values.name, secretInputOf(values))
      showSuccessToast(`${values.name} was ${secret === undefined ? "created" : "changed"}`)
      await refetchSecrets(workspaceId)
      onSaved?.(values.name)
      onClose()
    }
  })
  const { values } = form
  const added = secret === undefined ? [] : addedHosts(values, secret)
  const name = values.name || "API_TOKEN"
  return (
    <Sheet isOpen onClose={onClose} title={secret === undefined ? "New secret" : `Edit ${name}`}>
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          // The dialog may be inside a task form, which must not be submitted.
          event.stopPropagation()
          void form.submit(event)
        }}
      >
        {secret === undefined && (
          <Field
            label="Name"
            hint={
              <>
                Calls use it as{" "}
                <code className="font-mono whitespace-nowrap">{secretReference(name)}</code>. It
                cannot be changed later.
              </>
            }
            error={form.errorOf("name")}
          >
            <Input
              {...form.text("name")}
              onChange={({ target }) => form.set({ name: secretNameOf(target.value) })}
              mono
              required
              maxLength={63}
              pattern="[A-Z][A-Z0-9_]*"
              title="Uppercase letters, digits and _, starting with a letter"
              autoComplete="off"
              placeholder="API_TOKEN"
            />
          </Field>
        )}
        <Field
          label="Allowed hosts"
          hint="The only servers to which the secret is sent, separated by commas: api.example.com, or *.example.com for all subdomains. They must use HTTPS, unless you write http://jobs.internal:8080."
          error={form.errorOf("allowed_hosts")}
        >
          <Input
            {...form.text("allowed_hosts")}
            mono
            required
            autoComplete="off"
            placeholder="api.example.com"
          />
        </Field>
        <Field
          label={secret === undefined ? "Value" : "New value"}
          hint={valueHint(values.value, secret !== undefined, added)}
          error={form.errorOf("value")}
        >
          <Textarea
            {...form.text("value")}
            mono
            rows={2}
            required={secret === undefined || added.length > 0}
            maxLength={bounds.SecretDefinition.value.maxLength}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            // Private keys have several lines, which a password input would join together.
            className="[-webkit-text-security:disc]"
          />
        </Field>
        <Field label="Description" hint="Optional." error={form.errorOf("description")}>
          <Input
            {...form.text("description")}
            {...bounds.SecretDefinition.description}
            placeholder="Token for the billing bot"
          />
        </Field>
        <FormFooter
          form={form}
          action={secret === undefined ? "Create secret" : "Save changes"}
          needs="editor"
          onCancel={onClose}
        />
      </form>
    </Sheet>
  )
}

const valueHint = (value: string, isKnown: boolean, added: ReadonlyArray<string>): string => {
  if (value !== "" && value.trim() !== value) {
    return "The value starts or ends with a space or a line break, which is part of it."
  }
  if (added.length > 0) {
    return `Enter the value for ${added.join(", ")}: adding a host requires it, so that only people who know the value can send it elsewhere.`
  }
  return isKnown
    ? "Leave empty to keep the current value. A new value is used from the next call on."
    : "The value is stored encrypted, and nobody can read it again."
}
