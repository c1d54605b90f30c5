/** A field that shows what is wrong with it. */
interface InvalidField {
  readonly name: string
  readonly control: HTMLElement | undefined
}

/** What says of itself that it shows an error, in the order of the page. */
export const invalidFieldsIn = (form: HTMLFormElement): ReadonlyArray<InvalidField> =>
  Array.from(form.querySelectorAll<HTMLElement>("[data-invalid]"), (field) => {
    const label = field.querySelector("label")
    const name = field.dataset["invalid"] || label?.textContent || ""
    const control = label?.control ?? field.querySelector<HTMLElement>("input, select, textarea")
    return { name, control: control ?? undefined }
  })

/** Opens the sections that hold it, brings it into view, and lets it be typed into. */
export const lead = (control: HTMLElement): void => {
  for (let at = control.closest("details"); at !== null; at = parentSectionOf(at)) at.open = true
  control.scrollIntoView({ block: "center" })
  control.focus({ preventScroll: true })
}

const parentSectionOf = (section: Element) => section.parentElement?.closest("details") ?? null
