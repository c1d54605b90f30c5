import { SecretField } from "../../secrets/SecretField.tsx"
import { Field, Input, Select } from "../../ui/forms/Field.tsx"
import { type FieldGroupProps, inputPropsOf } from "../../ui/forms/inputProps.ts"
import { authKindLabels, type AuthValues } from "./authValues.ts"

/**
 * The fields for a call's authentication. The user selects credentials from the workspace's
 * secrets.
 */
export const AuthFields = ({
  errorOf,
  onChange,
  values
}: FieldGroupProps<{ readonly auth: AuthValues }>) => {
  const { auth } = values
  const change = (fields: Partial<AuthValues>) => onChange({ auth: { ...auth, ...fields } })
  const text = inputPropsOf(auth, change)
  const field = (name: keyof AuthValues) => ({ error: errorOf("auth", name) })
  const secret = (name: "client_secret" | "password" | "token") => ({
    ...field(name),
    value: auth[name],
    onChange: (secretName: string) => change({ [name]: secretName })
  })
  const isAtField = Object.keys(auth).some((name) => errorOf("auth", name) !== undefined)
  return (
    <>
      <Field
        label="Authentication"
        hint={auth.kind === "" ? undefined : "Sets the authorization header of each call."}
        error={isAtField ? undefined : errorOf("auth")}
      >
        <Select {...text("kind")} options={[["", "None"], ...Object.entries(authKindLabels)]} />
      </Field>
      {auth.kind === "basic" && (
        <>
          <Field label="Username" {...field("username")}>
            <Input {...text("username")} required autoComplete="off" placeholder="robot" />
          </Field>
          <SecretField label="Password" {...secret("password")} />
        </>
      )}
      {auth.kind === "bearer" && <SecretField label="Token" {...secret("token")} />}
      {auth.kind === "oauth2_client_credentials" && (
        <>
          <Field
            label="Token URL"
            hint="The token endpoint of the authorization server. Its host must also be an allowed host of the client secret."
            {...field("token_url")}
          >
            <Input
              {...text("token_url")}
              type="url"
              mono
              required
              placeholder="https://login.example.com/oauth2/token"
            />
          </Field>
          <Field label="Client id" {...field("client_id")}>
            <Input {...text("client_id")} mono required autoComplete="off" />
          </Field>
          <SecretField label="Client secret" {...secret("client_secret")} />
          <div className="grid gap-5 sm:grid-cols-2">
            <Field
              label="Scope"
              hint="Separate with spaces. Leave empty for the client's default scopes."
              {...field("scope")}
            >
              <Input {...text("scope")} mono placeholder="jobs:run" />
            </Field>
            <Field
              label="Audience"
              hint="Only if the authorization server requires it."
              {...field("audience")}
            >
              <Input {...text("audience")} mono placeholder="https://api.example.com" />
            </Field>
          </div>
        </>
      )}
    </>
  )
}
