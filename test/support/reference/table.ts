/** Undo steps of the statement under way, newest last. */
export type Journal = (() => void)[];

/**
 * One table in memory: rows by their key, replaced as a whole and never changed in place.
 * Every write leaves an undo step in the journal, so that a statement that fails costs only what it wrote.
 */
export class Table<K, V> {
  readonly #rows = new Map<K, V>();
  readonly #journal: Journal;
  readonly #onChange: (before: V | undefined, after: V | undefined) => void;

  /** `onChange` keeps an index; it also sees every undo. */
  constructor(journal: Journal, onChange: (before: V | undefined, after: V | undefined) => void = () => {}) {
    this.#journal = journal;
    this.#onChange = onChange;
  }

  get(key: K): V | undefined {
    return this.#rows.get(key);
  }

  /** The row that must exist. */
  row(key: K): V {
    const row = this.#rows.get(key);
    if (row === undefined) throw new Error(`no row with key ${String(key)}`);
    return row;
  }

  set(key: K, row: V): void {
    const before = this.#rows.get(key);
    this.#journal.push(() => this.#put(key, before));
    this.#put(key, row);
  }

  delete(key: K): void {
    const before = this.#rows.get(key);
    if (before === undefined) return;
    this.#journal.push(() => this.#put(key, before));
    this.#put(key, undefined);
  }

  values(): MapIterator<V> {
    return this.#rows.values();
  }

  entries(): MapIterator<[K, V]> {
    return this.#rows.entries();
  }

  get size(): number {
    return this.#rows.size;
  }

  #put(key: K, row: V | undefined): void {
    this.#onChange(this.#rows.get(key), row);
    if (row === undefined) this.#rows.delete(key);
    else this.#rows.set(key, row);
  }
}

/** An append-only table. */
export class AppendOnly<V> {
  readonly rows: V[] = [];
  readonly #journal: Journal;
  constructor(journal: Journal) {
    this.#journal = journal;
  }

  append(row: V): void {
    this.rows.push(row);
    this.#journal.push(() => this.rows.pop());
  }
}
