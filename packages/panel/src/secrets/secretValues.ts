import type { Secret, SecretDefinition } from "@scheduling/sdk"

/** A secret's form values. An empty value keeps the current one. */
export interface SecretValues {
  readonly name: string
  readonly value: string
  readonly allowed_hosts: string
  readonly description: string
}

export const newSecretValues: SecretValues = {
  name: "",
  value: "",
  allowed_hosts: "",
  description: ""
}

export const secretValuesOf = ({ allowed_hosts, description, name }: Secret): SecretValues => ({
  name,
  value: "",
  allowed_hosts: allowed_hosts.join(", "),
  description: description ?? ""
})

const hostsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter((host) => host !== "")

export const secretInputOf = (values: SecretValues): SecretDefinition => ({
  ...(values.value !== "" && { value: values.value }),
  allowed_hosts: hostsOf(values.allowed_hosts),
  description: values.description.trim() || null
})

/** Returns the form's hosts that are not yet allowed for the secret. */
export const addedHosts = (
  values: Pick<SecretValues, "allowed_hosts">,
  { allowed_hosts }: Pick<Secret, "allowed_hosts">
): ReadonlyArray<string> =>
  hostsOf(values.allowed_hosts).filter((host) => !allowed_hosts.includes(host))

/** Converts typed text to a valid secret name. */
export const secretNameOf = (text: string): string => text.toUpperCase().replaceAll(/[\s.-]/g, "_")

export const secretReference = (name: string): string => `{{ secrets.${name} }}`
