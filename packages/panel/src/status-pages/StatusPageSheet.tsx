import type { StatusPage, StatusPageDefinition } from "@scheduling/sdk"
import { Plus, X } from "lucide-react"
import * as bounds from "../data/bounds.ts"
import { useWorkspace } from "../data/client.ts"
import { queryClient, bypassCache } from "../data/queries.ts"
import { TargetPicker } from "../ui/forms/TargetPicker.tsx"
import { useRuleTargets } from "../data/targets.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Checkbox, Field, Input, Select, Textarea } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { FieldProblem } from "../ui/forms/issues.ts"
import { parseTags } from "../ui/forms/parseTags.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { useRecordAsOpened } from "../ui/forms/useRecordAsOpened.ts"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { now } from "../ui/values/clock.ts"
import { refetchStatusPages, statusPagesOptions } from "./queries.ts"

interface GroupValues {
  readonly name: string
  readonly tags: string
  readonly monitor_ids: StatusPage["groups"][number]["monitor_ids"]
}

const newGroup: GroupValues = { name: "", tags: "", monitor_ids: [] }

const valuesOf = (page: StatusPage | undefined) => ({
  slug: page?.slug ?? "",
  title: page?.title ?? "",
  description: page?.description ?? "",
  published: page?.published ?? true,
  needsPassword: page?.has_password ?? false,
  password: "",
  groups:
    page?.groups.map(({ monitor_ids, name, tags }) => ({
      name,
      monitor_ids,
      tags: tags.join(", ")
    })) ?? ([newGroup] as ReadonlyArray<GroupValues>),
  // A notice posted with this form applies immediately. Only the API can set its start and end.
  updated: newNotice,
  noticeTitle: "",
  noticeText: ""
})

/** The option for posting a new notice rather than updating an existing one. */
const newNotice = "new"

/** Returns the notices together with the new notice, or with an update to the selected notice. */
const noticesWith = (
  notices: StatusPage["notices"],
  {
    noticeText,
    noticeTitle,
    updated
  }: Pick<ReturnType<typeof valuesOf>, "noticeText" | "noticeTitle" | "updated">
): NonNullable<StatusPageDefinition["notices"]> => {
  const posted = { text: noticeText, posted_at: new Date(now()).toISOString() }
  if (updated === newNotice) {
    return noticeTitle.trim() === "" ? notices : [{ title: noticeTitle, ...posted }, ...notices]
  }
  return noticeText.trim() === ""
    ? notices
    : notices.map((notice, at) =>
        String(at) === updated ? { ...notice, updates: [...notice.updates, posted] } : notice
      )
}

const passwordOf = (
  { needsPassword, password }: Pick<ReturnType<typeof valuesOf>, "needsPassword" | "password">,
  page: StatusPage | undefined
): Pick<StatusPageDefinition, "password"> => {
  if (needsPassword) return password === "" ? {} : { password }
  return page?.has_password === true ? { password: null } : {}
}

const slugOf = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9-]/g, "-")

export const StatusPageSheet = ({
  onClose,
  page: current
}: {
  /** Absent for a new page. */
  readonly page?: StatusPage
  readonly onClose: () => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const page = useRecordAsOpened(current)
  const form = useForm({
    initial: valuesOf(page),
    send: async (given) => {
      const { description, groups, published, slug, title } = given
      if (page === undefined) {
        // The slug is checked first, because the API would change an existing page with the same
        // slug.
        const known = await queryClient.fetchQuery(bypassCache(statusPagesOptions(workspaceId)))
        if (known.some((other) => other.slug === slug)) {
          throw new FieldProblem("slug", `This workspace already has a page /status/${slug}.`)
        }
      }
      const definition: StatusPageDefinition = {
        title,
        description: description.trim() || null,
        published,
        ...passwordOf(given, page),
        groups: groups.map(({ monitor_ids, name, tags }) => ({
          name,
          monitor_ids,
          tags: parseTags(tags)
        })),
        notices: noticesWith(page?.notices ?? [], given),
        ...(page !== undefined && { version: page.version })
      }
      await api.statusPages.upsert(slug, definition)
      showSuccessToast(`${title} was ${page === undefined ? "created" : "changed"}`)
      await refetchStatusPages(workspaceId)
      onClose()
    }
  })
  const { set, values } = form
  const change = (at: number, changes: Partial<GroupValues>) =>
    set({ groups: values.groups.map((group, n) => (n === at ? { ...group, ...changes } : group)) })
  const chosen = values.groups.flatMap(({ monitor_ids }) => monitor_ids)
  const { monitors } = useRuleTargets({ monitor_ids: chosen, task_ids: null })
  return (
    <Sheet
      isOpen
      onClose={onClose}
      title={page === undefined ? "New status page" : `Edit ${page.title}`}
    >
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field label="Title" error={form.errorOf("title")}>
          <Input
            {...form.text("title")}
            {...bounds.StatusPageDefinition.title}
            required
            placeholder="Acme status"
          />
        </Field>
        {page === undefined && (
          <Field
            label="Address"
            hint={`Anybody can read ${location.origin}/status/${values.slug || "acme"}. The address cannot be changed later.`}
            error={form.errorOf("slug")}
          >
            <Input
              {...form.text("slug")}
              onChange={({ target }) => set({ slug: slugOf(target.value) })}
              mono
              required
              minLength={2}
              maxLength={63}
              placeholder="acme"
            />
          </Field>
        )}
        <Field label="Description" hint="Optional." error={form.errorOf("description")}>
          <Input {...form.text("description")} {...bounds.StatusPageDefinition.description} />
        </Field>
        {values.groups.map((group, at) => (
          <fieldset key={at} className="flex flex-col gap-3 rounded-lg border border-line p-4">
            <legend className="px-1 text-sm font-medium text-soft">Group {at + 1}</legend>
            <Field label="Heading" error={form.errorAt("groups", at, "name")}>
              <Input
                required
                {...bounds.StatusPageGroupInput.name}
                placeholder="Website"
                value={group.name}
                onChange={({ target }) => change(at, { name: target.value })}
              />
            </Field>
            <TargetPicker
              label="Monitors"
              placeholder="Search monitors by name"
              {...monitors}
              chosen={group.monitor_ids}
              onChange={(monitor_ids) => change(at, { monitor_ids })}
            />
            <Field
              label="Monitors with these tags"
              hint="Separate tags with commas. Any monitor with one of these tags appears on the page."
              error={form.errorAt("groups", at, "tags")}
            >
              <Input
                placeholder="public"
                value={group.tags}
                onChange={({ target }) => change(at, { tags: target.value })}
              />
            </Field>
            <div>
              <Button
                icon={<X />}
                onClick={() => set({ groups: values.groups.filter((_, n) => n !== at) })}
              >
                Remove group
              </Button>
            </div>
          </fieldset>
        ))}
        <div>
          <Button icon={<Plus />} onClick={() => set({ groups: [...values.groups, newGroup] })}>
            Add a group
          </Button>
        </div>
        <fieldset className="flex flex-col gap-3">
          <legend className="mb-2 text-sm font-medium text-soft">Post a notice (optional)</legend>
          {page !== undefined && page.notices.length > 0 && (
            <Field label="About">
              <Select
                {...form.text("updated")}
                options={[
                  [newNotice, "A new notice"],
                  ...page.notices.map(({ title }, at) => [String(at), `Update: ${title}`] as const)
                ]}
              />
            </Field>
          )}
          {values.updated === newNotice && (
            <Field label="Headline" error={form.errorAt("notices", 0, "title")}>
              <Input
                {...form.text("noticeTitle")}
                {...bounds.StatusNoticeInput.title}
                placeholder="Slow checkout"
              />
            </Field>
          )}
          <Field label="Text" error={form.errorAt("notices", 0, "text")}>
            <Textarea
              {...form.text("noticeText")}
              rows={3}
              required={values.noticeTitle.trim() !== ""}
              {...bounds.StatusNoticeInput.text}
            />
          </Field>
        </fieldset>
        <Checkbox
          checked={values.published}
          onChange={({ target }) => set({ published: target.checked })}
          hint="Otherwise the address responds with 404."
        >
          Published
        </Checkbox>
        <Checkbox
          checked={values.needsPassword}
          onChange={({ target }) => set({ needsPassword: target.checked })}
        >
          Readers need a password
        </Checkbox>
        {values.needsPassword && (
          <Field
            label="Password"
            hint={
              page?.has_password === true
                ? "Leave this empty to keep the current password."
                : "8 characters or more. Readers type it with any user name."
            }
            error={form.errorOf("password")}
          >
            <Input
              {...form.text("password")}
              {...bounds.StatusPageDefinition.password}
              type="password"
              autoComplete="new-password"
              required={page?.has_password !== true}
            />
          </Field>
        )}
        <FormFooter
          form={form}
          action={page === undefined ? "Create status page" : "Save changes"}
          needs="editor"
          onCancel={onClose}
        />
      </form>
    </Sheet>
  )
}
