import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.snowball.SnowballFilter;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.NRTCachingDirectory;
import org.apache.lucene.util.Version;
import org.tartarus.snowball.ext.EnglishStemmer;

/** Lucene, told what to do as the worker in Python is, and printing the same figures. */
public class Lucene {
    private static final BM25Similarity BM25 = new BM25Similarity(1.2f, 0.75f);
    private static final Analyzer STEMS = new Analyzer() {
        @Override
        protected TokenStreamComponents createComponents(String field) {
            StandardTokenizer words = new StandardTokenizer();
            return new TokenStreamComponents(
                words, new SnowballFilter(new LowerCaseFilter(words), new EnglishStemmer()));
        }
    };

    private final int top;
    private DirectoryReader reader;
    private IndexSearcher searcher;
    private IndexWriter writer;

    private Lucene(int top) {
        this.top = top;
    }

    public static void main(String[] given) throws Exception {
        switch (given[0]) {
            case "version" -> System.out.printf(
                "{\"version\": \"%s on Java %s\"}", Version.LATEST, Runtime.version().feature());
            case "build" -> build(Path.of(given[1]), Path.of(given[2]));
            default -> ask(given);
        }
    }

    private static IndexWriterConfig config() {
        return new IndexWriterConfig(STEMS).setSimilarity(BM25).setRAMBufferSizeMB(512).setUseCompoundFile(false);
    }

    private static Document document(long number, String text) {
        Document document = new Document();
        document.add(new TextField("body", text, Field.Store.NO));
        document.add(new NumericDocValuesField("id", number));
        return document;
    }

    private static void build(Path texts, Path folder) throws Exception {
        long before = memory()[0];
        long wall = System.nanoTime();
        long processor = processor();
        try (IndexWriter writer = new IndexWriter(FSDirectory.open(folder), config());
                Stream<String> lines = Files.lines(texts)) {
            long number = 0;
            for (String text : (Iterable<String>) lines::iterator) {
                writer.addDocument(document(number++, text));
            }
            writer.forceMerge(1);
        }
        double wallS = (System.nanoTime() - wall) / 1e9;
        double processorS = (processor() - processor) / 1e9;
        long bytes = 0;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path path : (Iterable<Path>) files::iterator) {
                bytes += Files.size(path);
            }
        }
        System.out.printf(
            "{\"wall_s\": %s, \"processor_s\": %s, \"bytes\": %d, \"peak_bytes\": %d}",
            wallS, processorS, bytes, status("/proc/self/status", "VmHWM:") - before);
    }

    private static void ask(String[] given) throws Exception {
        long[] bare = memory();
        Lucene lucene = new Lucene(Integer.parseInt(given[5]));
        double warmS = Double.parseDouble(given[6]);
        double timedS = Double.parseDouble(given[7]);
        int checked = Integer.parseInt(given[8]);
        Map<String, Map<String, List<String>>> kinds = new LinkedHashMap<>();
        for (String line : Files.readAllLines(Path.of(given[1]))) {
            String[] parts = line.split("\t");
            kinds.computeIfAbsent(parts[0], kind -> new LinkedHashMap<>())
                .computeIfAbsent(parts[1], part -> new ArrayList<>()).add(parts[2]);
        }
        String first = kinds.values().iterator().next().get("warm").get(0);
        long[] imported = memory();
        long began = System.nanoTime();
        lucene.use(DirectoryReader.open(FSDirectory.open(Path.of(given[2]))));
        double openedS = (System.nanoTime() - began) / 1e9;
        long[] opened = memory();
        lucene.best(first, false);
        double firstS = (System.nanoTime() - began) / 1e9;
        List<String> asked = new ArrayList<>();
        for (Map.Entry<String, Map<String, List<String>>> kind : kinds.entrySet()) {
            boolean isPhrase = kind.getKey().equals(given[9]);
            asked.add("\"" + kind.getKey() + "\": " + lucene.kind(kind.getValue(), isPhrase, warmS, timedS, checked));
        }
        long[] after = memory();
        List<Double> visible = lucene.visible(
            Path.of(given[2]), Long.parseLong(given[3]), given[4], Integer.parseInt(given[10]));
        System.out.printf(
            "{\"open_s\": %s, \"first_s\": %s, \"kinds\": {%s}, \"memory\": {\"bare\": %s, \"imported\": %s,"
                + " \"opened\": %s, \"asked\": %s}, \"visible_us\": %s}",
            openedS, firstS, String.join(", ", asked), told(bare), told(imported), told(opened), told(after), visible);
    }

    private void use(DirectoryReader found) {
        reader = found;
        searcher = new IndexSearcher(found);
        searcher.setSimilarity(BM25);
    }

    /** Cuts, stems and asks, as far as the documents' numbers; does not count what matches. */
    private TopDocs best(String text, boolean isPhrase) throws Exception {
        List<Term> terms = new ArrayList<>();
        try (TokenStream words = STEMS.tokenStream("body", text)) {
            CharTermAttribute word = words.addAttribute(CharTermAttribute.class);
            words.reset();
            while (words.incrementToken()) {
                terms.add(new Term("body", word.toString()));
            }
            words.end();
        }
        Query query;
        if (isPhrase) {
            PhraseQuery.Builder phrase = new PhraseQuery.Builder();
            terms.forEach(phrase::add);
            query = phrase.build();
        } else {
            BooleanQuery.Builder any = new BooleanQuery.Builder();
            terms.forEach(term -> any.add(new TermQuery(term), BooleanClause.Occur.SHOULD));
            query = any.build();
        }
        return searcher.search(query, new TopScoreDocCollectorManager(top, top));
    }

    private String kind(
            Map<String, List<String>> of, boolean isPhrase, double warmS, double timedS, int checked)
            throws Exception {
        long until = System.nanoTime() + (long) (warmS * 1e9);
        while (System.nanoTime() < until) {
            for (String query : of.get("warm")) {
                best(query, isPhrase);
                if (System.nanoTime() > until) {
                    break;
                }
            }
        }
        List<Double> times = new ArrayList<>();
        until = System.nanoTime() + (long) (timedS * 1e9);
        for (String query : of.get("timed")) {
            long began = System.nanoTime();
            best(query, isPhrase);
            long ended = System.nanoTime();
            times.add((ended - began) / 1e3);
            if (ended > until && times.size() >= checked) {
                break;
            }
        }
        List<List<Long>> found = new ArrayList<>();
        for (String query : of.get("timed").subList(0, Math.min(checked, of.get("timed").size()))) {
            found.add(ids(best(query, isPhrase)));
        }
        return "{\"times_us\": " + times + ", \"top\": " + found + "}";
    }

    private List<Long> ids(TopDocs found) throws Exception {
        List<Long> ids = new ArrayList<>();
        for (ScoreDoc hit : found.scoreDocs) {
            LeafReaderContext leaf = reader.leaves().get(ReaderUtil.subIndex(hit.doc, reader.leaves()));
            NumericDocValues numbers = leaf.reader().getNumericDocValues("id");
            numbers.advanceExact(hit.doc - leaf.docBase);
            ids.add(numbers.longValue());
        }
        return ids;
    }

    /** Adds texts, each seen by a reader of the writer's own: kept in memory without a commit, its fastest way. */
    private List<Double> visible(Path folder, long size, String text, int count) throws Exception {
        // The reader waits for no merge.
        IndexWriterConfig config = config().setRAMBufferSizeMB(16).setMaxFullFlushMergeWaitMillis(0);
        writer = new IndexWriter(new NRTCachingDirectory(FSDirectory.open(folder), 16, 64), config);
        use(DirectoryReader.open(writer));
        List<Double> times = new ArrayList<>();
        for (long number = size; number < size + 2 * count; number++) {
            String word = mark(number);
            long began = System.nanoTime();
            writer.addDocument(document(number, text + " " + word));
            DirectoryReader newer = DirectoryReader.openIfChanged(reader, writer);
            use(newer);
            TopDocs found = best(word, false);
            times.add((System.nanoTime() - began) / 1e3);
            if (!ids(found).equals(List.of(number))) {
                throw new IllegalStateException(word + " is not found right after it was added");
            }
        }
        writer.close();
        return times.subList(count, 2 * count);
    }

    /** A word of letters alone, as the worker makes it. */
    private static String mark(long number) {
        StringBuilder word = new StringBuilder("qz");
        Long.toString(number).chars().forEach(digit -> word.append((char) (digit - '0' + 'a')));
        return word.append('x').toString();
    }

    private static long processor() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    }

    private static long[] memory() throws Exception {
        return new long[] {
            status("/proc/self/smaps_rollup", "Rss:"), status("/proc/self/smaps_rollup", "Anonymous:")};
    }

    private static long status(String file, String name) throws Exception {
        for (String line : Files.readAllLines(Path.of(file))) {
            if (line.startsWith(name)) {
                return Long.parseLong(line.substring(name.length()).replace("kB", "").strip()) * 1024;
            }
        }
        throw new IllegalStateException("no " + name + " in " + file);
    }

    private static String told(long[] of) {
        return "{\"resident\": " + of[0] + ", \"anonymous\": " + of[1] + "}";
    }
}
