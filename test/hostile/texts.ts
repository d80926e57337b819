/** Texts that a database, a driver, a formatter of SQL or JavaScript could take for something else, by what is strange in them. */
export const storableTexts: Readonly<Record<string, readonly string[]>> = {
  nothing: [''],
  'white space': everyForm(codes(0x09, 0x0d), codes(0x20, 0x20), codes(0x85, 0x85), codes(0xa0, 0xa0), codes(0x1680, 0x1680),
    codes(0x2000, 0x200a), codes(0x2028, 0x2029), codes(0x202f, 0x202f), codes(0x205f, 0x205f), codes(0x3000, 0x3000)),
  'white space around and within': [' a ', 'a  b', 'a b', 'a\tb', '\r\n', 'a\r\nb', 'a\nb', 'a\rb', '\n\n\n', ' '.repeat(255)],
  'control characters': [...codes(0x01, 0x08), ...codes(0x0e, 0x1f), ...codes(0x7f, 0x84), ...codes(0x86, 0x9f)].map(char => `a${char}b`),
  'zero width': everyForm(codes(0x200b, 0x200f), codes(0x2060, 0x2064), codes(0x206a, 0x206f), codes(0xad, 0xad), codes(0x34f, 0x34f),
    codes(0x61c, 0x61c), codes(0x115f, 0x1160), codes(0x17b4, 0x17b5), codes(0x180b, 0x180e), codes(0x3164, 0x3164), codes(0xffa0, 0xffa0)),
  'a word and what looks like it': ['admin', 'Admin', 'ADMIN', 'аdmin', 'ad\u00admin', 'ad\u200bmin', 'ａｄｍｉｎ', '𝖆𝖉𝖒𝖎𝖓', '𝐚𝐝𝐦𝐢𝐧', 'ádmin', 'admın'],
  direction: [...codes(0x202a, 0x202e), ...codes(0x2066, 0x2069)].map(mark => `file${mark}gpj.exe`).concat('שלום עולם', 'مرحبا abc 123', '\u202e\u202d\u202c', 'ﷺ', 'ﷲ'),
  emoji: ['👨‍👩‍👧‍👦', '👩🏽‍🚀', '👍', '👍🏻', '👍🏿', '🇦🇹', '🇦', '🇹🇦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏳️‍🌈', '☺', '☺\ufe0e', '☺\ufe0f', '1️⃣', '#️⃣', '❤️‍🔥', '🏻', '\u200d👦', '👨\u200d', '🧑‍🤝‍🧑', '😀😀😀'],
  'composed and decomposed': ['é', 'e\u0301', 'Å', 'A\u030a', '\u212b', 'ñ', 'n\u0303', '가', '\u1100\u1161', 'q\u0323\u0307', 'q\u0307\u0323', '\u1e69', 's\u0323\u0307', '\u0344', '\u0308\u0301', '\u0958', '\u0915\u093c', '\u2126', '\u03a9'],
  'combining marks': ['\u0301', '\u0301a', 'a\u0301\u0301\u0301', `a${'\u0300'.repeat(200)}`, 'z̸̡̢̛͔̈́̀̕a̶̧͙͐̾l̴̤̈́g̷̜̓o̸͙͝', '\u20dd', '\u0e33', '\u0e4d\u0e32', 'ก็็็็็็็็', '\ufe20x\ufe21'],
  'compatibility forms': ['ﬁ', 'fi', 'ﬀ', 'ff', '²', '2', '①', 'Ⅳ', 'IV', '½', '1/2', 'ª', '™', 'TM', '㎏', 'kg', 'Ａ', 'A', 'ｶ', 'カ', '…', '...'],
  case: ['a', 'ß', 'ss', 'SS', 'ẞ', 'i', 'I', 'İ', 'ı', 'i̇', 'σ', 'ς', 'Σ', 'ǆ', 'ǅ', 'Ǆ', '\u212a', 'K', 'k', 'ſ', 's', 'S', 'ŉ', 'ʼn', 'Ꭰ', 'ꭰ', '𐐀', '𐐨'],
  scripts: ['租户', '東京都', 'ประเทศไทย', 'हिन्दी', 'தமிழ்', 'ქართული', 'አማርኛ', 'ខ្មែរ', 'Ελληνικά', 'Русский', 'עברית', 'فارسی', '한국어', 'ᚠᛇᚻ', '𓀀𓂀', '𐎀𐎁', '𠜎𠜱', 'Tiếng Việt', 'ʇxǝʇ', '⠓⠊', '𝒜𝓁𝓅'],
  'byte order marks': ['\ufeff', '\ufeffa', 'a\ufeff', 'a\ufeffb', '\ufeff\ufeff', '\ufffe', 'ï»¿', 'þÿ'],
  'private use': ['\ue000', '\uf8ff', '\u{f0000}', '\u{ffffd}', '\u{100000}', '\u{10fffd}', '\u{e0001}', '\u{e007f}', '\u{e0100}'],
  'non-characters': ['\ufdd0', '\ufdef', '\uffff', '\u{1fffe}', '\u{1ffff}', '\u{2fffe}', '\u{8ffff}', '\u{effff}', '\u{fffff}', '\u{10fffe}', '\u{10ffff}'],
  'specials and edges': ['\ufff9', '\ufffa', '\ufffb', '\ufffc', '\ufffd', '\ud7ff', '\uf900', '\u{10000}', '\u{1fffd}', '\u007e', '\u0080', '\u07ff', '\u0800', '\ufffd\ufffd'],
  'wrongly decoded': ['Ã©', 'â€œ', 'ÃƒÂ©', '%C0%80', '%00', '%u0000', '&#0;', '&#x0;', '\\0', '\\x00', '\\u0000', '\\ud800', 'U+0000', '\\u{0}', '=?utf-8?Q?=00?=', '\\N{NULL}'],
  quotes: [`'`, `''`, `'''`, '"', '""', '`', '``', `\\'`, `\\"`, `\\`, `\\\\`, `\\\\\\`, `'"`, `"'"'"`, '‘’', '“”', '«»', 'ʼ', '＇', '´', `E'\\x41'`, `U&'\\0041'`, 'q[x]', '[bracket]', '$$', '$tag$ $tag$', `it's`, `O''Brien`],
  'injections into SQL': [`' or 1=1 --`, `' or '1'='1`, `'; drop table durable_job; --`, `\\'; drop table durable_job; --`, `1; select pg_sleep(10)`, `') or ('1'='1`, `" or ""="`, `' union select null, null --`,
    `admin'--`, `admin' #`, `'||(select version())||'`, `' and 1=cast((select 1) as int) --`, `/* comment */`, `/*! 1 */`, `-- comment`, `#comment`, `; commit; begin;`, `'; rollback; --`, `\\copy x from '/etc/passwd'`, `0; pragma writable_schema=1`, `' returning * --`, `1/0`, `\\\\'; vacuum; --`, `\u02bc or 1=1`],
  'wildcards and operators': ['%', '_', '%%', '\\%', '\\_', 'a%b', 'a_b', '[a-z]', '*', '.*', '^$', '(a+)+$', '~', '!~', '@>', '<->', '||', '&&', '::text', '::int', 'a::b', '=>', '->', '->>', '#>', '!', '^', '|'],
  placeholders: ['?', '??', '???', '\\?', 'a ? b ?? c \\? d', '$0', '$1', '$1$2', ':name', '::name', ':1', '@p1', '@@version', '@', '{}', '{0}', '{1}', '%s', '%d', '%n', '%1$s', '%x%x%x', '${x}', '#{x}', '{{x}}', '<%= x %>', '{% x %}', '[raw]: select 1 (#0)', '[raw]: x (#1)', '#1', '&x'],
  'pieces of JSON': ['{', '}', '[', ']', '{}x', '[]', '""""', ',', ':', '{"a":1}', '[1,2]', '"a"', '{"a":', '\\"', '\\\\"', '\\/', '/', '\\b\\f\\n\\r\\t', '\\u0041', '\u2028\u2029', '{"$ref":"#"}', ']]>', '}}', '"}]}'],
  markup: ['<script>alert(1)</script>', '<b>', '</title>', '<!--', '-->', '<![CDATA[x]]>', '&amp;', '&lt;', '&#39;', '"><img src=x onerror=alert(1)>', 'javascript:alert(1)', '<svg/onload=alert(1)>', `' onmouseover='x`, '<?xml version="1.0"?>', '<!DOCTYPE a [<!ENTITY b "c">]>', '&b;', '<a href="data:text/html,x">', '<iframe srcdoc="x">', 'x\u003cx', '[a](b)', '**a**'],
  'commands and paths': ['$(reboot)', '`reboot`', '; reboot', '| reboot', '&& reboot', '|| true', '> /dev/null', '$HOME', '%PATH%', '~', '../../etc/passwd', '..\\..\\boot.ini', 'C:\\Windows', '/', '//', '.', '..', 'CON', 'NUL', 'a/b', 'file:///etc/passwd', 'http://[::1]/', '-rf', '--help', '-', '--', '\\\\host\\share', '() { :;}; echo', '\u001b[31mred\u001b[0m', '\u001b]0;x\u0007', '!!'],
  numbers: ['0', '-0', '+0', '1', '+1', '01', '001', '1.0', '1.00', '1.', '.5', '1e3', '1E3', '1000', '1e400', '-1e400', '5e-324', '0x1F', '0b1', '0o7', '1_000', '1,000', '1 000', '9007199254740993', '9223372036854775808', '-9223372036854775809', '2147483648', 'Infinity', '-Infinity', 'NaN', '-NaN', '1n', '١٢٣', '１２３', '٪', '1e', '0.1', '00', '1/3', '--1', '1-1'],
  'words of languages': ['null', 'NULL', 'nil', 'None', 'undefined', '(null)', 'true', 'false', 'TRUE', 'yes', 'no', 'on', 'off', 't', 'f', 'void', 'select', 'from', 'default', 'user', 'order', 'table', 'current_timestamp', 'rowid', 'oid', 'ctid', 'public', 'if', 'function'],
  'instants and intervals': ['infinity', '-infinity', 'now', 'epoch', 'today', 'allballs', '2026-02-30', '0000-00-00', '1970-01-01T00:00:00Z', '+275760-09-13', '24:00', '23:59:60', 'P1D', '1d', '30s', '@hourly'],
  'members of objects': ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'toJSON', 'then', 'catch', 'length', 'name', 'message', 'stack', 'cause', '__defineGetter__', '__lookupSetter__', '$ne', '$where', '$in', '$gt', '$raw', 'id', 'scope', 'get', 'set', 'has', 'size', '0x', 'Symbol(x)', '[object Object]', '__esModule', 'arguments', 'caller'],
  identifiers: ['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'a:b', '1:ab', '2:a', '3:a:b', 'a\u001fb', 'default', 'job-1'],
  long: ['x'.repeat(64), 'x'.repeat(65), 'x'.repeat(128), 'x'.repeat(254), 'x'.repeat(255), `${'x'.repeat(254)} `, `${'x'.repeat(253)}  `, '租'.repeat(255), '租'.repeat(254), '😀'.repeat(127), `${'😀'.repeat(127)}x`, 'é'.repeat(255), '\u0001'.repeat(255), `'`.repeat(255), '\\'.repeat(255), '?'.repeat(255), '"'.repeat(255),
    'x'.repeat(256), '😀'.repeat(128), 'x'.repeat(1024), '租'.repeat(341), '租'.repeat(342), 'x'.repeat(2048), 'x'.repeat(2049), '\\'.repeat(2048), '"'.repeat(3000), 'x'.repeat(4097), 'x y'.repeat(5000), '\n'.repeat(10_000), '😀'.repeat(15_000)],
}; // prettier-ignore

/** What no column holds: PostgreSQL refuses NUL, and Node writes U+FFFD for half a surrogate pair. */
export const unstorableTexts: readonly string[] = [
  '\0', 'a\0', '\0a', 'a\0b', '\0\0', `${'x'.repeat(200)}\0`, '\0'.repeat(64), '😀\0',
  '\ud800', '\udbff', '\udc00', '\udfff', 'a\ud800', '\ud800a', 'a\udc00b', '\udc00\ud800', '\ud83d', '\ude00',
  '\ud800\ud800\udc00', '\ud800\udc00\udc00', '😀\ud83d', '\ude00😀', '👨‍👩‍👧'.slice(0, -1), '👨‍👩‍👧'.slice(1), 'e\u0301\ud801', '\ufeff\ud800', `${'x'.repeat(200)}\ud800`, '\ud800\0',
]; // prettier-ignore

const refuse = () => {
  throw new Error('a trap');
};

/** What is no text, though some of it would be made one by a template or a driver. */
export const noTexts: ReadonlyArray<readonly [title: string, value: unknown]> = [
  ['null', null],
  ['a number', 5],
  ['NaN', NaN],
  ['true', true],
  ['a BigInt', 1n],
  ['a symbol', Symbol('a')],
  ['an object', {}],
  ['an object with a toString', { toString: () => 'a' }],
  ['an object whose conversions throw', { toString: refuse, valueOf: refuse, [Symbol.toPrimitive]: refuse }],
  ['a list', []],
  ['a list of a text', ['a']],
  ['a list of a list', [['a']]],
  ['a boxed text', Object('a')],
  ['a function', () => 'a'],
  ['a Date', new Date(0)],
  ['an invalid Date', new Date(NaN)],
  ['a Buffer', Buffer.from('a')],
  ['an error', new Error('a')],
  ['a proxy whose traps throw', new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse })],
  ['a revoked proxy', revoked()],
];

/** Each once: what looks the same in two categories is two texts only if its code units differ. */
export const allStorableTexts: readonly string[] = [...new Set(Object.values(storableTexts).flat())];

function codes(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
}

/** Alone, before and behind a letter: what a database pads, trims or ignores shows there. */
function everyForm(...chars: readonly string[][]): string[] {
  return chars.flat().flatMap(char => [char, `${char}a`, `a${char}`]);
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();

  return proxy;
}
