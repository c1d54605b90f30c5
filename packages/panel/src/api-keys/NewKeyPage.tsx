import type { ApiKeyInput, CreatedApiKey, Scope } from "@scheduling/sdk"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { ParentPageLink } from "../ui/layout/ParentPageLink.tsx"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { Field, Input, Select, Textarea } from "../ui/forms/Field.tsx"
import { FieldProblem } from "../ui/forms/issues.ts"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { Card, Page, Section } from "../ui/layout/Page.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { keyQueries } from "./queries.ts"
import { parseScopes } from "./scopes.ts"
import { ScopeTable } from "./ScopeTable.tsx"
import { CreatedKeyNotice } from "./CreatedKeyNotice.tsx"
import * as bounds from "../data/bounds.ts"

export const NewKeyPage = () => {
  const { api, workspaceId } = useWorkspace()
  const [created, setCreated] = useState<CreatedApiKey>()
  const above = (
    <ParentPageLink to="/w/$workspaceId/keys" params={{ workspaceId }}>
      API keys
    </ParentPageLink>
  )
  if (created !== undefined) {
    return (
      <Page title={created.name} above={above} width="narrow">
        <div className="flex flex-col gap-6">
          <CreatedKeyNotice created={created} />
          <div>
            <ButtonLink
              ignoreBlocker
              to="/w/$workspaceId/keys/$keyId"
              params={{ workspaceId, keyId: created.id }}
            >
              I have saved it
            </ButtonLink>
          </div>
        </div>
      </Page>
    )
  }
  return (
    <Page
      title="New API key"
      above={above}
      description="A key belongs to the workspace, and keeps working after you leave the workspace."
      width="narrow"
    >
      <KeyForm
        onSend={async (input) => {
          setCreated(await api.apiKeys.create(input))
          void keyQueries.changed(workspaceId)
        }}
      />
    </Page>
  )
}

const lifetimes = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "365 days"],
  ["", "Never"]
] as const

const linesOf = (text: string) => text.split(/[\s,]+/).filter((line) => line !== "")

const KeyForm = ({ onSend }: { readonly onSend: (input: ApiKeyInput) => Promise<unknown> }) => {
  const { workspaceId } = useWorkspace()
  const { name = "", scopes } = useSearch({ from: "/inside/w/$workspaceId/keys/new" })
  const navigate = useNavigate()
  const form = useForm({
    initial: {
      name,
      scopes: parseScopes(scopes),
      expires_in_days: "90",
      allowed_ips: ""
    },
    send: async (values) => {
      if (values.scopes.length === 0) {
        throw new FieldProblem("scopes", "Choose at least one scope.")
      }
      const allowed = linesOf(values.allowed_ips)
      await onSend({
        name: values.name.trim(),
        scopes: values.scopes,
        expires_in_days: values.expires_in_days === "" ? null : Number(values.expires_in_days),
        allowed_ips: allowed.length === 0 ? null : allowed
      })
    }
  })
  const { errorOf, set, values } = form
  return (
    <form className="flex flex-col gap-8" onSubmit={form.submit}>
      <Card className="flex flex-col gap-5 p-5">
        <Field
          label="Name"
          hint="For example, the program that uses the key."
          error={errorOf("name")}
        >
          <Input
            {...form.text("name")}
            required
            {...bounds.ApiKeyInput.name}
            autoFocus
            placeholder="CI deploys"
          />
        </Field>
      </Card>
      <Section title="Scopes">
        <Card className="p-5">
          <ScopeTable
            scopes={values.scopes}
            error={errorOf("scopes")}
            onChange={(chosen: ReadonlyArray<Scope>) => set({ scopes: chosen })}
          />
        </Card>
      </Section>
      <Section title="Limits">
        <Card className="flex flex-col gap-5 p-5">
          <Field
            label="Expires after"
            hint="You are notified 7 days and 1 day before it expires."
            error={errorOf("expires_in_days")}
          >
            <Select {...form.text("expires_in_days")} options={lifetimes} />
          </Field>
          <Field
            label="Allowed addresses"
            hint="IP addresses or networks, one per line. Leave empty to allow all addresses."
            error={errorOf("allowed_ips")}
          >
            <Textarea
              {...form.text("allowed_ips")}
              mono
              spellCheck={false}
              placeholder={"203.0.113.7\n2001:db8::/32"}
            />
          </Field>
        </Card>
      </Section>
      <FormFooter
        isLong
        needs="admin"
        form={form}
        action="Create API key"
        onCancel={() => void navigate({ to: "/w/$workspaceId/keys", params: { workspaceId } })}
      />
    </form>
  )
}
